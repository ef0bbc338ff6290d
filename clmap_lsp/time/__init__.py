"""What a launch takes on a device, what bounds it, and what each part takes."""
