// Refusals: read by us, and shown to nobody.
import { inspect } from 'node:util'
import t from 'tap'
import { AuthorizeNetError } from './api.ts'

t.test('what the gateway said is read by us, and is not in what is logged of the error', async (t) => {
  const error = new AuthorizeNetError({
    code: 'E00053',
    text: 'of jane@example.com',
    response: { email: 'jane@example.com' },
  })
  t.equal(error.text, 'of jane@example.com')
  t.same(error.response, { email: 'jane@example.com' })
  // What a serialiser of errors goes through, inherited members included.
  const members: string[] = []
  for (const name in error) members.push(name)
  t.same(members.toSorted(), ['code', 'kind', 'name', 'rateLimit'])
  for (const written of [JSON.stringify(error), JSON.stringify(Object.entries(error)), inspect(error)]) {
    t.match(written, 'E00053')
    t.notMatch(written, 'jane')
  }
})
