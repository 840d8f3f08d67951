import t from 'tap'
import { type Deed, recordDeed } from './auditTrail.ts'

const deed: Deed = {
  action_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at: '2026-03-01T12:00:00.000Z',
  action: 'export_log',
  target: null,
  actor: 'operator:ann',
  reason: 'Year-end audit',
  details: { category: 'payment', limit: 5, since: null },
}

t.test('a deed is recorded once, with its actor and reason', async (t) => {
  t.same(recordDeed(deed, null), [{ type: 'AdministratorActed', data: deed }])
  t.same(recordDeed(deed, deed), [])
})

t.test('texts of the target and the details that may be an e-mail are not recorded', async (t) => {
  const target = { kind: 'stream', id: 'guestToken-ann@example.com' }
  const [event] = recordDeed({ ...deed, target, details: { stream: 'ann@example.com', type: 'A' } }, null)
  t.match(event?.data, { target: { kind: 'stream', id: '(left out)' }, details: { stream: '(left out)', type: 'A' } })
  t.notMatch(JSON.stringify(event), '@')
})
