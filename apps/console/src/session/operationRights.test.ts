import t from 'tap'
import { mayCall } from './operationRights.ts'

t.test('an operation needs the right that the OpenAPI document names', async (t) => {
  t.ok(mayCall(['read'], 'listAnyPayments'))
  t.notOk(mayCall(['read'], 'createRefund'))
  t.ok(mayCall(['read', 'refund'], 'createRefund'))
  t.notOk(mayCall([], 'listAnyPayments'))
})

t.test('what owners may do needs a right for the payments of others', async (t) => {
  t.notOk(mayCall(['read'], 'cancelPayment'))
  t.ok(mayCall(['refund'], 'cancelPayment'))
  t.ok(mayCall(['read'], 'refreshPayment'))
})

t.test('an operation without a right is open to everybody who is signed in', async (t) => {
  t.ok(mayCall([], 'testWebhooks'))
})
