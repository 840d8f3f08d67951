import t from 'tap'
import { type AdministratorAction, recordAction } from './auditTrail.ts'
import { reasonProblem } from './reason.ts'

const auditedAction: AdministratorAction = {
  action_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at: '2026-03-01T12:00:00.000Z',
  action: 'export_log',
  target: null,
  actor: 'operator:ann',
  reason: 'Year-end audit',
  details: { category: 'payment', limit: 5, since: null },
}

t.test('an action is recorded once, with its actor and reason', async (t) => {
  t.same(recordAction(auditedAction, null), [{ type: 'AdministratorActed', data: auditedAction }])
  t.same(recordAction(auditedAction, auditedAction), [])
})

t.test('texts of the target and the details that may be an e-mail are not recorded', async (t) => {
  const target = { kind: 'stream', id: 'guestToken-ann@example.com' }
  const [event] = recordAction({ ...auditedAction, target, details: { stream: 'ann@example.com', type: 'A' } }, null)
  t.match(event?.data, { target: { kind: 'stream', id: '(left out)' }, details: { stream: '(left out)', type: 'A' } })
  t.notMatch(JSON.stringify(event), '@')
})

t.test('a reason that holds a card number is rejected', async (t) => {
  for (const reason of ['paid with 4242 4242 4242 4242', '4242424242424242'])
    t.equal(reasonProblem(reason), 'must not hold a card number', reason)
  t.equal(reasonProblem('Ticket 4711, order 2026-0000-1234'), undefined)
})

t.test('texts of the target and the details that hold a card number are not recorded', async (t) => {
  const target = { kind: 'stream', id: 'payment-4242424242424242' }
  const [event] = recordAction(
    { ...auditedAction, target, details: { stream: '4242 4242 4242 4242', type: 'A' } },
    null,
  )
  t.match(event?.data, { target: { kind: 'stream', id: '(left out)' }, details: { stream: '(left out)', type: 'A' } })
})
