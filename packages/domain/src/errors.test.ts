import t from 'tap'
import { actorName } from './actor.ts'
import { DomainError, errorStatus } from './errors.ts'

t.test('an error has the status of its code, and keeps its cause to itself', async (t) => {
  const cause = new Error('inside')
  const error = new DomainError('currency_not_supported', 'no', { currency: 'JPY' }, { cause })
  t.match(error, { code: 'currency_not_supported', status: 422, details: { currency: 'JPY' }, cause })
  t.equal(new DomainError('provider_outcome_unknown', '').status, errorStatus.provider_outcome_unknown)
})

t.test('an actor is named without an e-mail or a credential', async (t) => {
  const session = { user_id: 'u1', user_type: 'customer', user_email: 'ann@example.com', is_administrator: false }
  t.equal(actorName({ kind: 'session', ...session }), 'session:u1')
  t.equal(actorName({ kind: 'guest', guest_email: 'ann@example.com', token_hash: 'f00d' }), 'guest')
  t.equal(actorName({ kind: 'anonymous' }), 'anonymous')
})
