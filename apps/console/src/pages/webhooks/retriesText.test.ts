import t from 'tap'
import { retriesText } from './retriesText.ts'

t.test('the retry schedule is said in words', async (t) => {
  t.match(retriesText([5, 300, 7_200]), 'again after 5 s, 5 min and 2 h;')
  t.match(retriesText([0.5]), 'again after 0.5 s;')
  t.equal(retriesText([]), 'A failed delivery is not tried again.')
})
