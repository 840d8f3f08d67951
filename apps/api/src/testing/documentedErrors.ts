// Requests that must fail, each for all routes that document the error.
import { bodiesOf, type Caller, isFor, type Route, type Sent } from './documentedRoutes.ts'

export const anonymous: Caller = { name: 'an anonymous caller', scheme: undefined, headers: {} }
export const guest: Caller = { name: 'a guest', scheme: 'guest', headers: { 'x-guest-token': 'demo-guest-token' } }
const user: Caller = { name: 'a user', scheme: 'session', headers: { 'x-session-id': 'demo-session' } }
export const admin: Caller = {
  name: 'an administrator',
  scheme: 'session',
  headers: { 'x-session-id': 'demo-admin-session' },
}
const unknown: Caller = { name: 'an unknown session', scheme: 'session', headers: { 'x-session-id': 'unknown' } }

export type DocumentedError = {
  readonly status: number
  readonly code: string
  readonly caller: Caller
  readonly of: (route: Route) => boolean
  readonly sent: (route: Route) => Sent
}

const isSecured = ({ security }: Route) => security.length > 0
const isReceiver = ({ tags = [] }: Route) => tags.includes('provider webhooks')
const isWrite = ({ method }: Route) => method !== 'GET'
const takesBody = (route: Route) => isSecured(route) && route.requestBody !== undefined
const isAboutOne = ({ path }: Route) => path.includes('{id}')
/** Nothing of the body is kept. */
const keepsNoBody = ({ path }: Route) => /\{endpoint\}\/(?!test)/.test(path) || path.startsWith('/admin/privacy/')
const hasParameter = (name: string) => (route: Route) => route.parameters?.some((each) => each.name === name) === true

const example = (route: Route): Sent => ({ body: bodiesOf(route)[0] })
const nothing = (): Sent => ({})
const anyBody = (body: string) => (): Sent => ({ body })

/** The example with an extra field that contains a card number. */
function withCardNumber(route: Route): Sent {
  const { body } = example(route)
  return { body: JSON.stringify({ ...JSON.parse(body ?? '{}'), note: '4242 4242 4242 4242' }) }
}

export const documentedErrors: readonly DocumentedError[] = [
  { status: 401, code: 'unauthenticated', caller: unknown, of: isSecured, sent: nothing },
  {
    status: 401,
    code: 'unauthenticated',
    caller: anonymous,
    of: (route) => isSecured(route) && !isFor(route, anonymous),
    sent: nothing,
  },
  {
    status: 403,
    code: 'forbidden',
    caller: guest,
    of: (route) => isSecured(route) && !isFor(route, guest),
    sent: nothing,
  },
  { status: 403, code: 'forbidden', caller: user, of: ({ path }) => path.startsWith('/admin/'), sent: nothing },
  {
    status: 403,
    code: 'forbidden',
    caller: guest,
    of: hasParameter('guest_email'),
    sent: () => ({ query: '?guest_email=ada@example.com' }),
  },
  { status: 413, code: 'body_too_large', caller: admin, of: takesBody, sent: anyBody(' '.repeat(262_145)) },
  { status: 413, code: 'body_too_large', caller: anonymous, of: isReceiver, sent: anyBody(' '.repeat(1_048_577)) },
  {
    status: 415,
    code: 'unsupported_media_type',
    caller: admin,
    of: (route) => isSecured(route) && isWrite(route),
    sent: () => ({ body: 'x', headers: { 'content-type': 'text/plain' } }),
  },
  { status: 400, code: 'invalid_request', caller: admin, of: takesBody, sent: anyBody('{') },
  { status: 400, code: 'invalid_request', caller: admin, of: takesBody, sent: anyBody('[]') },
  {
    status: 400,
    code: 'invalid_request',
    caller: admin,
    of: hasParameter('limit'),
    sent: () => ({ query: '?limit=0' }),
  },
  {
    status: 400,
    code: 'invalid_request',
    caller: admin,
    of: hasParameter('idempotency-key'),
    sent: (route) => ({ ...example(route), headers: { 'idempotency-key': 'k'.repeat(256) } }),
  },
  {
    status: 400,
    code: 'invalid_request',
    caller: admin,
    of: hasParameter('x-read-after'),
    sent: () => ({ headers: { 'x-read-after': 'soon' } }),
  },
  { status: 400, code: 'invalid_signature', caller: anonymous, of: isReceiver, sent: example },
  { status: 404, code: 'not_found', caller: admin, of: isAboutOne, sent: example },
  {
    status: 404,
    code: 'not_found',
    caller: admin,
    of: ({ operationId }) => operationId === 'getPayment',
    // The read times out and is marked as stale.
    sent: () => ({ headers: { 'x-read-after': '9'.repeat(19) } }),
  },
  {
    status: 422,
    code: 'card_number_rejected',
    caller: admin,
    of: (route) => takesBody(route) && !isAboutOne(route) && !keepsNoBody(route),
    sent: withCardNumber,
  },
]
