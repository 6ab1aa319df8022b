package compare

import "math"

// normal is how many standard deviations on both sides leave out a share risk of the
// normal distribution.
func normal(risk float64) float64 { return math.Sqrt2 * math.Erfinv(1-risk) }

// student is the same of Student's distribution with so many degrees of freedom, at
// least 1 (G. W. Hill, Algorithm 396, Communications of the ACM 13, 1970: six digits).
func student(risk, df float64) float64 {
	switch {
	case df < 1.5:
		return 1 / math.Tan(risk*math.Pi/2)
	case df < 2.5:
		return math.Sqrt(2/(risk*(2-risk)) - 2)
	}
	a := 1 / (df - 0.5)
	b := 48 / (a * a)
	c := ((20700*a/b-98)*a-16)*a + 96.36
	d := ((94.5/(b+c)-3)/b + 1) * math.Sqrt(a*math.Pi/2) * df
	x := d * risk
	y := math.Pow(x, 2/df)
	if y <= 0.05+a {
		y = ((1/(((df+6)/(df*y)-0.089*d-0.822)*(df+2)*3)+0.5/(df+4))*y-1)*(df+1)/(df+2) + 1/y
		return math.Sqrt(df * y)
	}
	x = -normal(risk)
	y = x * x
	if df < 5 {
		c += 0.3 * (df - 4.5) * (x + 0.6)
	}
	c += (((0.05*d*x-5)*x-7)*x-2)*x + b
	y = (((((0.4*y+6.3)*y+36)*y+94.5)/c-y-3)/b + 1) * x
	return math.Sqrt(df * math.Expm1(a*y*y))
}
