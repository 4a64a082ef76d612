//! What is chosen, and that it is honest.
