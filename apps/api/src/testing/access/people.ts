// Everybody who calls in the access tests, with data that can be recognised wherever it turns up.

/** Whose data it is. `shared` is the e-mail that a user and a guest have in common, and is known to both. */
export type OwnerName = 'ada' | 'grace' | 'admin' | 'g1' | 'g2' | 'anonymous'

/** A text that must only be shown to its owner. Made to pass as the local part of an e-mail too. */
export const canary = (owner: OwnerName | 'shared' | 'nobody', label: string) =>
  `canary.${owner.toLowerCase()}.${label}`

export const emailOf = {
  ada: `${canary('ada', 'self')}@example.com`,
  grace: `${canary('shared', 'self')}@example.com`,
  admin: `${canary('admin', 'self')}@example.com`,
  g1: `${canary('shared', 'self')}@example.com`,
  g2: `${canary('g2', 'self')}@example.com`,
} as const

const userId = (last: number) => `00000000-0000-4000-8000-00000000000${last}`

/** `expired`: the backend says so, or it answers as for a valid one with a time that is past. */
export type Validity = 'valid' | 'expired' | 'expired by its time'

export const sessions = [
  { id: 'cred.session.ada', user: { id: userId(1), email: emailOf.ada, userType: 'user' }, validity: 'valid' },
  { id: 'cred.session.grace', user: { id: userId(2), email: emailOf.grace, userType: 'user' }, validity: 'valid' },
  { id: 'cred.session.admin', user: { id: userId(3), email: emailOf.admin, userType: 'admin' }, validity: 'valid' },
  {
    id: 'cred.session.past',
    user: { id: userId(1), email: emailOf.ada, userType: 'user' },
    validity: 'expired by its time',
  },
] as const satisfies readonly { id: string; user: object; validity: Validity }[]

/** Those that begin as valid and are to expire are let expire by the test. */
export const guestTokens = [
  { token: 'cred.token.g1', email: emailOf.g1, validity: 'valid' },
  { token: 'cred.token.g1.second', email: emailOf.g1, validity: 'valid' },
  { token: 'cred.token.g1.upper', email: emailOf.g1.toUpperCase(), validity: 'valid' },
  { token: 'cred.token.g2', email: emailOf.g2, validity: 'valid' },
  { token: 'cred.token.remembered', email: emailOf.g1, validity: 'valid' },
  { token: 'cred.token.remembered.past', email: emailOf.g1, validity: 'valid' },
  { token: 'cred.token.forgotten', email: emailOf.g1, validity: 'expired' },
  { token: 'cred.token.forgotten.past', email: emailOf.g1, validity: 'expired by its time' },
] as const satisfies readonly { token: string; email: string; validity: Validity }[]

/** What the service should take a caller for. `remembered` is a guest on some routes, and nobody on the others. */
export type Standing = 'anonymous' | 'unknown' | 'session' | 'administrator' | 'guest' | 'remembered'

export type Caller = {
  readonly name: string
  readonly standing: Standing
  /** Whose things the caller may have; null where the credentials say nothing. */
  readonly owner: OwnerName | null
  readonly headers: Readonly<Record<string, string>>
  /** Without a question mark; empty for none. */
  readonly query: string
}

const session = (owner: OwnerName, standing: Standing = 'session'): Caller => ({
  name: owner,
  standing,
  owner,
  headers: { 'x-session-id': `cred.session.${owner}` },
  query: '',
})
const guest = (name: string, owner: OwnerName, token: string, standing: Standing = 'guest'): Caller => ({
  name,
  standing,
  owner,
  headers: { 'x-guest-token': `cred.token.${token}` },
  query: '',
})
const unknown = (name: string, headers: Readonly<Record<string, string>>): Caller => ({
  name,
  standing: 'unknown',
  owner: null,
  headers,
  query: '',
})

export const ada = session('ada')
export const grace = session('grace')
export const admin = session('admin', 'administrator')
export const g1 = guest('g1', 'g1', 'g1')
export const g1Second = guest('g1 with a second token', 'g1', 'g1.second')
export const g1Upper = guest('g1 in capitals', 'g1', 'g1.upper')
export const g2 = guest('g2', 'g2', 'g2')
export const remembered = guest('an expired guest token that was seen', 'g1', 'remembered', 'remembered')
export const rememberedPast = guest('one that is past and was seen', 'g1', 'remembered.past', 'remembered')
export const anonymous: Caller = { name: 'anonymous', standing: 'anonymous', owner: null, headers: {}, query: '' }

export const callers: readonly Caller[] = [
  anonymous,
  unknown('an unknown session', { 'x-session-id': 'cred.session.nobody' }),
  unknown('an unknown guest token', { 'x-guest-token': 'cred.token.nobody' }),
  unknown('an expired session', { 'x-session-id': 'cred.session.past' }),
  unknown('an expired guest token that was never seen', { 'x-guest-token': 'cred.token.forgotten' }),
  unknown('one that is past and was never seen', { 'x-guest-token': 'cred.token.forgotten.past' }),
  unknown('an expired guest token that was seen, as a session', { authorization: 'Bearer cred.token.remembered' }),
  unknown('an empty guest token', { 'x-guest-token': '' }),
  unknown('another scheme', { authorization: 'Basic Y3JlZDpjcmVk' }),
  ada,
  grace,
  admin,
  g1,
  g1Second,
  g1Upper,
  g2,
  remembered,
  rememberedPast,
]
