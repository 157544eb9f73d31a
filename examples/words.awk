BEGIN {
	srand(1)
	for (i = 0; i < 100000; i++) {
		word = ""
		for (n = 3 + int(rand() * 8); n; n--)
			word = word sprintf("%c", 97 + int(rand() * 26))
		words[i] = word
	}
	for (i = 0; i < 3000000; i++)
		printf "%s%s", words[int(rand() * rand() * 100000)], i % 12 == 11 ? "\n" : " "
}
