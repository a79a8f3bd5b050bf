"""``fdverify configure``: whether a product's settings are safe, by how much, and how late a crash is noticed."""
