extern volatile long sink;

long other_unit(long value);
