"""Strange worlds: rules turned round with their factual twins, and societies whose customs are not ours."""
