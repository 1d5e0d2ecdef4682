"""The emitters: each turns a family into the text of one generated file."""
