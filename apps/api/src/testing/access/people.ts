// The callers of the access tests, with recognisable data.

/** `shared` is the e-mail that a user and a guest have in common, visible to both. */
export type OwnerName = 'ada' | 'grace' | 'admin' | 'g1' | 'g2' | 'anonymous'

/** A text that only its owner may see. Also valid as the local part of an e-mail. */
export const canary = (owner: OwnerName | 'shared' | 'staff' | 'unowned', label: string) =>
  `canary.${owner.toLowerCase()}.${label}`

export const emailOf = {
  ada: `${canary('ada', 'self')}@example.com`,
  grace: `${canary('shared', 'self')}@example.com`,
  admin: `${canary('admin', 'self')}@example.com`,
  g1: `${canary('shared', 'self')}@example.com`,
  g2: `${canary('g2', 'self')}@example.com`,
} as const

/** As the interface names them. */
export const rights = ['read', 'refund', 'operate', 'export', 'privacy', 'charge'] as const
export type Right = (typeof rights)[number]

/** A person for each right alone, and one whose refunds have a limit: RIGHTS. */
export const rightsOfPeople =
  'read=read; refund=refund; operate=operate; export=export; privacy=privacy; charge=charge; limited=refund:500;'

const userId = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`

/**
 * `expired`: the backend reports it. `expired by its time`: the backend returns it as valid with an `expires_at` in the
 * past.
 */
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
  ...[...rights, 'limited'].map((userType, index) => ({
    id: `cred.session.right.${userType}`,
    user: { id: userId(index + 4), email: `${canary('staff', userType)}@example.com`, userType },
    validity: 'valid' as const,
  })),
] as const satisfies readonly { id: string; user: object; validity: Validity }[]

/** Tests let some of the valid ones expire. */
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

/** How the service must treat a caller. `remembered` counts as a guest on some routes and as unknown on the others. */
export type Standing = 'anonymous' | 'unknown' | 'session' | 'guest' | 'remembered'

export type Caller = {
  readonly name: string
  readonly standing: Standing
  readonly rights: readonly Right[]
  /** The owner whose resources the caller may access. Null for invalid credentials. */
  readonly owner: OwnerName | null
  readonly headers: Readonly<Record<string, string>>
  /** Without a question mark, or empty. */
  readonly query: string
}

const session = (owner: OwnerName, rights: readonly Right[] = []): Caller => ({
  name: owner,
  standing: 'session',
  rights,
  owner,
  headers: { 'x-session-id': `cred.session.${owner}` },
  query: '',
})
const guest = (name: string, owner: OwnerName, token: string, standing: Standing = 'guest'): Caller => ({
  name,
  standing,
  rights: [],
  owner,
  headers: { 'x-guest-token': `cred.token.${token}` },
  query: '',
})
const unknown = (name: string, headers: Readonly<Record<string, string>>): Caller => ({
  name,
  standing: 'unknown',
  rights: [],
  owner: null,
  headers,
  query: '',
})

export const ada = session('ada')
export const grace = session('grace')
export const admin = session('admin', rights)
export const g1 = guest('g1', 'g1', 'g1')
export const g1Second = guest('g1 with a second token', 'g1', 'g1.second')
export const g1Upper = guest('g1 in capitals', 'g1', 'g1.upper')
export const g2 = guest('g2', 'g2', 'g2')
export const remembered = guest('an expired guest token that was seen', 'g1', 'remembered', 'remembered')
export const rememberedPast = guest('a guest token past its time that was seen', 'g1', 'remembered.past', 'remembered')
export const anonymous: Caller = {
  ...{ name: 'anonymous', standing: 'anonymous', rights: [], owner: null },
  ...{ headers: {}, query: '' },
}

export const callers: readonly Caller[] = [
  anonymous,
  unknown('an unknown session', { 'x-session-id': 'cred.session.nobody' }),
  unknown('an unknown guest token', { 'x-guest-token': 'cred.token.nobody' }),
  unknown('an expired session', { 'x-session-id': 'cred.session.past' }),
  unknown('an expired guest token that was never seen', { 'x-guest-token': 'cred.token.forgotten' }),
  unknown('a guest token past its time that was never seen', { 'x-guest-token': 'cred.token.forgotten.past' }),
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

/** People who own nothing, and have one right. */
export const staff: readonly Caller[] = [...rights, 'limited' as const].map((name) => ({
  name: `who has ${name}`,
  standing: 'session',
  rights: [name === 'limited' ? 'refund' : name],
  owner: null,
  headers: { 'x-session-id': `cred.session.right.${name}` },
  query: '',
}))
