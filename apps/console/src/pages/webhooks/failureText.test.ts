import t from 'tap'
import { failureText } from './failureText.ts'

t.test('a failure is said in words, with the status of a response', async (t) => {
  t.equal(failureText('connection_refused', null), 'connection refused')
  t.equal(failureText('unexpected_status', 503), 'HTTP 503')
  t.equal(failureText('gone', 410), 'HTTP 410, gone for good')
  t.equal(failureText('something_new', null), 'something new')
})
