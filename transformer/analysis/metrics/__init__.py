"""Head metrics, one per file: attention weights [H, Q, K] -> one number per head [H].

Each file declares itself with a constant METRIC; comparison.py holds the numbers of two heads.
"""
