import t from 'tap'
import { countries, isCountry } from './countries.ts'

t.test('the country list has the 249 codes of ISO 3166-1 and Kosovo, sorted, as two capitals', async (t) => {
  t.equal(countries.size, 250)
  t.same(
    [...countries].filter((code) => !/^[A-Z]{2}$/.test(code)),
    [],
  )
  t.same([...countries].toSorted(), [...countries])
})

t.test('each country code has a distinct name in Intl.DisplayNames', async (t) => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const named = [...countries].map((code) => names.of(code))
  t.equal(new Set(named).size, 250)
  t.notOk(named.includes(undefined))
})

t.test('isCountry accepts a country code in any case and rejects other text [2.7-country]', async (t) => {
  for (const text of ['DE', 'de', 'dE', 'gb', 'zw', 'xk']) t.ok(isCountry(text), text)
  // UK and EU are reserved; AN, CS and SU were withdrawn; a sharp s, a ligature and a dotless i
  // become ASCII letters in upper case.
  for (const text of ['', 'D', 'DEU', 'UK', 'EU', 'AN', 'CS', 'SU', 'XX', 'ZZ', 'AA', '49', ' DE', 'DE ', 'D E'])
    t.notOk(isCountry(text), JSON.stringify(text))
  for (const text of ['\u00df', '\ufb01', '\u0131t', '\uff24\uff25', 'DE\n'])
    t.notOk(isCountry(text), JSON.stringify(text))
})
