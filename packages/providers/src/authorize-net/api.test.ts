// Error responses of the gateway: readable by us, hidden from logs.
import { inspect } from 'node:util'
import t from 'tap'
import { AuthorizeNetError } from './api.ts'

t.test('the text of an Authorize.Net error response is readable but not enumerable for loggers', async (t) => {
  const error = new AuthorizeNetError({
    code: 'E00053',
    text: 'of jane@example.com',
    response: { email: 'jane@example.com' },
  })
  t.equal(error.text, 'of jane@example.com')
  t.same(error.response, { email: 'jane@example.com' })
  // The members that an error serialiser visits, inherited ones included.
  const members: string[] = []
  for (const name in error) members.push(name)
  t.same(members.toSorted(), ['code', 'kind', 'name', 'rateLimit'])
  for (const written of [JSON.stringify(error), JSON.stringify(Object.entries(error)), inspect(error)]) {
    t.match(written, 'E00053')
    t.notMatch(written, 'jane')
  }
})
