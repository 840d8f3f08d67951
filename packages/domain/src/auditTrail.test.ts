import t from 'tap'
import type { Actor, Session } from './actor.ts'
import { type AdministratorAction, actingPerson, auditTrailFold, recordAction, recordActionEnd } from './auditTrail.ts'
import { reasonProblem } from './reason.ts'
import { allRights } from './rights.ts'

const auditedAction: AdministratorAction = {
  action_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at: '2026-03-01T12:00:00.000Z',
  action: 'export_log',
  target: null,
  actor: 'operator:ann',
  actor_email: null,
  reason: 'Year-end audit',
  details: { category: 'payment', limit: 5, since: null },
}

t.test('an action is recorded once, with its actor and reason', async (t) => {
  t.same(recordAction(auditedAction, null), [{ type: 'AdministratorActed', data: auditedAction }])
  t.same(recordAction(auditedAction, { actor: 'operator:ann', actor_email: null, outcome: null }), [])
})

t.test('an action ends once, and one that was done cannot be refused any more', async (t) => {
  const { action_id, occurred_at } = auditedAction
  const ended = (outcome: 'done' | 'refused', before: readonly ('done' | 'refused')[]) => {
    const events = before.map((outcome) => ({ action_id, occurred_at, outcome }))
    const [acted] = recordAction(auditedAction, null)
    if (acted === undefined) throw new Error('It is recorded')
    const state = events.reduce(
      (state, data) => auditTrailFold.evolve(state, { type: 'AdministratorActionEnded', data }),
      auditTrailFold.evolve(null, acted),
    )
    return recordActionEnd({ action_id, occurred_at, outcome }, state).map(({ data }) => data)
  }
  t.match(ended('refused', []), [{ outcome: 'refused' }])
  t.match(ended('done', ['refused']), [{ outcome: 'done' }], 'a repetition succeeded')
  t.same(ended('refused', ['done']), [])
  t.same(ended('done', ['done']), [])
  t.same(recordActionEnd({ action_id, occurred_at, outcome: 'done' }, null), [], 'of no action')
})

t.test('the e-mail of an administrator is recorded as data of that user, and a command has none', async (t) => {
  const ids = { user_id: 'u-1', user_type: 'admin', user_email: 'ann@example.com' }
  const session: Session = { kind: 'session', ...ids, ...allRights }
  const subjectAfter = (actor: Actor) => {
    const [event] = recordAction({ ...auditedAction, ...actingPerson(actor) }, null)
    if (event === undefined) throw new Error('It is recorded')
    return auditTrailFold.subjectOf?.(auditTrailFold.evolve(null, event))
  }
  t.same(actingPerson(session), { actor: 'session:u-1', actor_email: 'ann@example.com' })
  t.same(subjectAfter(session), { name: 'user:u-1', guest: null, email: 'ann@example.com' })
  t.equal(subjectAfter({ ...session, user_email: null }), null)
  t.same(actingPerson({ kind: 'operator' }), { actor: 'operator', actor_email: null })
  t.equal(subjectAfter({ kind: 'operator' }), null)
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
