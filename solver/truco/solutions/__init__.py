"""Solutions of each kind behind the reader's interface, and how any file is opened."""
