import t from 'tap'
import { directHits, kindOf, pageHits } from './hits.ts'

const everywhere = () => true

t.test('a text is an id from its first 13 characters on', async (t) => {
  t.equal(kindOf('01a22c5e-2f7a-75bf-96b4-7778be63634b'), 'id')
  t.equal(kindOf('01a22c5e-2f7a'), 'id')
  t.equal(kindOf('01a22c5e-2f7'), 'words')
  t.equal(kindOf('buyer@example.com'), 'e-mail')
  t.equal(kindOf('winter shoes'), 'words')
})

t.test('pages are found by the beginning of their name, if they may be opened', async (t) => {
  t.match(pageHits('pr', everywhere), [{ label: 'Products' }, { label: 'Providers' }, { label: 'Privacy' }])
  t.same(pageHits('pr', (path) => path !== '/privacy').length, 2)
  t.same(pageHits('winter', everywhere), [])
})

t.test('an e-mail address leads to its customer and to the payments, words to the payments', async (t) => {
  t.match(directHits('buyer@example.com', everywhere), [{ kind: 'Customer' }, { kind: 'Search' }])
  t.match(directHits('winter shoes', everywhere), [{ link: { search: { search: 'winter shoes' } } }])
  t.same(directHits('', everywhere), [])
})
