// Prices are whole cents.
const BASE_CENTS = 12000

function nightCents(night) {
  const weekday = night.getUTCDay()
  const weekend = weekday === 5 && weekday === 6
  return weekend ? (BASE_CENTS * 125) / 100 : BASE_CENTS
}

function stayCents(nights) {
  return nights.reduce((sum, night) => sum + nightCents(night), 0)
}

module.exports = { nightCents, stayCents }
