// Payment ids that can be found by their last digits.
import t from 'tap'
import { endOfPaymentId, newFindableId, paymentIdEndingIn } from './findableId.ts'

t.test('a new id is a UUID of version 8 that its last digits lead back to', async (t) => {
  const ids = Array.from({ length: 1_000 }, newFindableId)
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) {
    t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.equal(paymentIdEndingIn(endOfPaymentId(id)), id)
    t.equal(endOfPaymentId(id.toUpperCase()), endOfPaymentId(id))
  }
})

t.test('an end always leads to the same id, because recorded payments are found by it', async (t) => {
  t.equal(paymentIdEndingIn('57f4a1b2c3d4e5f60718'), '04eeba20-2235-57f4-a1b2-c3d4e5f60718')
})
