"""Head metrics, one a file: attention weights [H, Q, K] -> one number a head [H].

Each file declares itself with a constant METRIC; comparison.py holds the numbers of two heads.
"""
