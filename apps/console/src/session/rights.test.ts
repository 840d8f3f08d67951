import t from 'tap'
import { mayCall, rightsFor } from './rights.ts'

t.test('an operation without a right is open to everybody who is signed in', async (t) => {
  t.same(rightsFor('getReadiness'), [])
  t.ok(mayCall([], 'getReadiness'))
})
