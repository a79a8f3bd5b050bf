"""What people and machines read: step tables, JSON documents, ITF traces."""
