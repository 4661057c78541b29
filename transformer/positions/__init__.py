"""How tokens are told apart by place: encodings, rotary positions, relative biases."""
