import t from 'tap'
import { oneOf, parseSearch, stringifySearch, textsOf } from './search.ts'

t.test('a search keeps every text as it is', async (t) => {
  const search = { search: '00123', status: 'failed', reference_code: 'true', currency: 'a&b=c d+é' }
  t.same(parseSearch(stringifySearch(search)), search)
  t.equal(stringifySearch({ search: '', status: undefined, cursor: null }), '')
})

t.test('textsOf picks known names with a text', async (t) => {
  t.same(textsOf({ a: 'x', b: '', c: 'y', d: 5 }, ['a', 'b', 'd']), { a: 'x' })
})

t.test('oneOf ignores other words', async (t) => {
  t.equal(oneOf(['asc', 'desc'], 'desc'), 'desc')
  t.equal(oneOf(['asc', 'desc'], 'down'), undefined)
  t.equal(oneOf(['asc'], undefined), undefined)
})
