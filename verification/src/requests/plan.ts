// Plans one request: route, caller, parameters, headers and body; valid by the document, or with one thing changed.
import { randomUUID } from 'node:crypto'
import type { Random } from '../campaign/random.ts'
import { type Route, validatorOf } from './document.ts'
import { hostileJson, hostileText, mutatedBytes, mutatedJson, mutatedText, oneOf } from './mutations.ts'
import { kindOf, type Pool } from './pool.ts'
import type { Providers } from './providers.ts'
import { type HttpParts, rawBytes } from './rawBytes.ts'
import { type ValueSource, validValue } from './values.ts'

export type PlannedRequest = HttpParts & {
  /** `undefined` when path, method or bytes were changed, so that it may belong to no route. */
  readonly route: Route | undefined
  readonly mutation: Mutation
  /** Whose data the response may contain. */
  readonly owners: readonly string[]
  /** Whether the document accepts its parameters and its body. */
  readonly isValid: boolean
  /** What is sent instead of the rest: something that no HTTP client sends. */
  readonly raw?: Buffer | undefined
}

const mutations = { none: 18, body: 40, bytes: 7, text: 22, credential: 5, path: 4, method: 1, raw: 3 }
export type Mutation = keyof typeof mutations

/** Relative to 10. What is slow, or changes much, is rare. */
const weights: readonly (readonly [RegExp, number])[] = [
  [/rebuild|backfill|erasures|redeliver$/, 0.2],
  [/verify$/, 1],
  [/^GET \/(metrics|admin\/(events|stats|system|projections))/, 2],
  [/^POST \/webhooks\/(stripe|paypal|authorize-net|sandbox)|intents$/, 25],
  [/\/(refunds|capture|cancel|refresh)$/, 20],
]
const weightOf = ({ name }: Route) => weights.find(([pattern]) => pattern.test(name))?.[1] ?? 10

/** What a route without a body in the document takes. */
const noFields = { enum: [null, {}] }

/** A parameter, a credential or another header. */
type Text = { readonly in: string; readonly name: string; readonly text: string }

const sessions = { ada: 'demo-session', grace: 'demo-session-2', admin: 'demo-admin-session' } as const
export const owners = ['ada', 'grace', 'admin', 'guest', 'anonymous'] as const
type Owner = (typeof owners)[number]
const otherHeaders =
  'x-request-id x-forwarded-for accept accept-encoding content-encoding cookie origin range if-none-match traceparent user-agent'
const oddInPaths =
  '% %zz %00 %2e%2e%2f // /../ ;a=b %ff %c0%af /. \\ # %25%32%65 é * ?a=% ?&&& ?limit=1&limit=2 ?__proto__=1 ?a[b]=c ?page=1;limit=2'

export type PlanSource = { readonly random: Random; readonly pool: Pool; readonly providers: Providers }

export function planRequest(routes: readonly Route[], { random, pool, providers }: PlanSource): PlannedRequest {
  const route = chosenRoute(routes, random)
  const mutation = random.weighted(mutations)
  const owner = chosenOwner(route, random)
  const other = mutation === 'credential' ? oneOf(random, owners) : owner
  // A request with two credentials may belong to either of them, and the owner of a payment sees what others do with it. Raw
  // bytes may have Ada's credential besides.
  const isRaw = mutation === 'raw'
  const isShared = isRaw || other !== owner || /\/(refunds|capture|cancel|refresh)$/.test(route.path)
  const source = { random, pool, owner: isShared ? 'anybody' : owner }
  const notification = providers.notification(route.path, random)
  const body = bodyOf(route, mutation, source, notification)
  const texts = [...parametersOf(route, { ...source, owner }), ...credentialOf(owner, random)]
  if (body) texts.push({ in: 'header', name: 'content-type', text: 'application/json' })
  if (mutation === 'credential') texts.push(...credentialOf(other, random))
  const isForged = notification !== undefined && mutation === 'credential'
  if (notification !== undefined) {
    const signed = isForged ? Buffer.from('{}') : (body ?? Buffer.alloc(0))
    for (const [name, text] of Object.entries(providers.sign(route.path, signed)))
      texts.push({ in: 'header', name, text })
  }
  if (mutation === 'text') mutateText(texts, route, random)
  const query = texts.filter((each) => each.in === 'query')
  const path = pathOf(route, texts, query)
  const at = random.between(0, path.length)
  const request = {
    route: ['path', 'method', 'raw'].includes(mutation) ? undefined : route,
    mutation,
    owners: [owner, other, 'anybody', ...(isRaw ? ['ada'] : [])],
    method:
      mutation === 'method' ? oneOf(random, 'PATCH PUT DELETE HEAD OPTIONS TRACE QUERY'.split(' ')) : route.method,
    path: mutation === 'path' ? path.slice(0, at) + oneOf(random, oddInPaths.split(' ')) + path.slice(at) : path,
    headers: Object.fromEntries(texts.filter((each) => each.in === 'header').map(({ name, text }) => [name, text])),
    body,
    isValid: isValid(route, texts, body) && !isForged,
  }
  return { ...request, raw: isRaw ? rawBytes(request, random) : undefined }
}

function chosenRoute(routes: readonly Route[], random: Random): Route {
  let left = random.next() * routes.reduce((sum, route) => sum + weightOf(route), 0)
  for (const route of routes) {
    left -= weightOf(route)
    if (left < 0) return route
  }
  throw new Error('the document has no routes')
}

/** Mostly one whom the route accepts. */
function chosenOwner({ security, path }: Route, random: Random): Owner {
  if (security.length === 0) return 'anonymous'
  if (/^\/admin\/|\/(capture|refunds)$/.test(path) && random.isIn(0.85)) return 'admin'
  const schemes = security.flatMap((scheme) => Object.keys(scheme)[0] ?? 'anonymous')
  const accepted = owners.filter((owner) => schemes.includes(owner in sessions ? 'session' : owner))
  return oneOf(random, random.isIn(0.93) ? accepted : owners)
}

function credentialOf(owner: Owner, random: Random): Text[] {
  if (owner === 'anonymous') return []
  const isGuest = owner === 'guest'
  const text = isGuest ? 'demo-guest-token' : sessions[owner]
  const authorization = { in: 'header', name: 'authorization', text: `${isGuest ? 'Token' : 'Bearer'} ${text}` }
  const query = { in: 'query', name: isGuest ? 'token' : 'session_id', text }
  const header = { in: 'header', name: isGuest ? 'x-guest-token' : 'x-session-id', text }
  return [oneOf(random, [header, header, header, authorization, query])]
}

function parametersOf({ parameters, path }: Route, source: ValueSource): Text[] {
  const { random, pool } = source
  const share = oneOf(random, [0, 0.15, 0.5])
  const special = specialPayments.find(([end]) => path.endsWith(end))?.[1]
  const payment = special && random.isIn(0.7) ? pool.pick(special, source) : undefined
  return parameters.flatMap(({ in: where, name, required = false, schema }) => {
    const isHeader = where === 'header'
    if (name === 'token' || !(required || random.isIn(isHeader ? 0.2 : share))) return []
    const before = path.slice(0, path.indexOf(`{${name}}`))
    const known = name === 'id' ? (payment ?? pool.pick(kindOf(before), source)) : pool.pick('refunds', source)
    const isId = where === 'path' && /id$/.test(name)
    const value = isId ? (known ?? randomUUID()) : String(validValue(schema, name, source))
    // Callers share the keys on purpose.
    const text = name === 'idempotency-key' ? `key-${random.between(1, 40)}` : value
    return [{ in: where, name, text: name === 'guest_email' && random.isIn(0.6) ? 'guest@example.com' : text }]
  })
}

/** Changes a parameter, a credential, a signature or another header, or adds one. */
function mutateText(texts: Text[], { parameters }: Route, random: Random): void {
  const unknown = { in: 'query', name: oneOf(random, ['dry_run', 'amount_cents', 'x']), text: '' }
  const others = [...otherHeaders.split(' ').map((name) => ({ in: 'header', name, text: '' })), unknown]
  const added = oneOf(random, random.isIn(0.25) ? others : [...texts, ...parameters, ...others])
  const { in: where, name } = added
  const old = texts.findIndex((each) => each.name === name && each.in === where)
  const changed = 'text' in added && random.isIn(0.3) ? mutatedText(added.text, random) : hostileText(random)
  // Blanks around the value of a header are not part of it.
  const text = where === 'header' ? changed.replaceAll(/^[ \t]+|[ \t]+$/g, '') : changed
  // A query may have a parameter twice.
  if (old >= 0 && (where !== 'query' || random.isIn(0.8))) texts.splice(old, 1)
  texts.push({ in: where, name, text })
}

/** Payments for which a route does something. */
const specialPayments: readonly (readonly [string, string])[] = [
  ['/capture', 'capturable payments'],
  ['/refunds', 'received payments'],
  ['{refund_id}', 'payments of refunds'],
]

/** `encodeURIComponent` throws at a lone surrogate. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed().slice(0, 3_000))

function pathOf({ path }: Route, texts: readonly Text[], query: readonly Text[]): string {
  const named = texts.filter((each) => each.in === 'path')
  const filled = named.reduce((filling, { name, text }) => filling.replace(`{${name}}`, () => encoded(text)), path)
  return filled + (query.length > 0 ? '?' : '') + query.map(({ name, text }) => `${name}=${encoded(text)}`).join('&')
}

const paid = { total_cents: 2599, currency: 'USD' }
/** The examples of the document use the sandbox, which authorizes nothing. */
const moreExamples: Readonly<Record<string, readonly object[]>> = {
  'POST /payments/intents': [
    { ...paid, provider_id: 'stripe', capture_method: 'manual' },
    { ...paid, provider_id: 'stripe' },
    { ...paid, provider_id: 'paypal' },
    { ...paid, provider_id: 'authorize-net' },
  ],
}

/** @param notification of a provider, for a receiver */
function bodyOf(
  { name, body: schema, method, isBodyRequired, examples }: Route,
  mutation: Mutation,
  source: ValueSource,
  notification: string | undefined,
): Buffer | undefined {
  const { random, owner } = source
  if (!schema) return mutation === 'body' && method !== 'GET' ? Buffer.from(hostileJson(random)) : undefined
  if (!isBodyRequired && random.isIn(0.2)) return undefined
  if (notification !== undefined && mutation === 'none') return Buffer.from(notification)
  const made = Object.entries(Object(validValue(schema, 'body', source)))
  const known = [...examples, ...(moreExamples[name] ?? [])]
  const example = known.length > 0 && random.isIn(0.65) ? oneOf(random, known) : undefined
  const chosen = example ? made.filter(() => random.isIn(0.1)) : made
  const value = notification ? JSON.parse(notification) : { ...Object(example), ...Object.fromEntries(chosen) }
  // Only the guest may name the guest, who could read the payment otherwise.
  if (value.guest_data) value.guest_data = { ...value.guest_data, email: `canary.${owner}.payer@example.com` }
  if (mutation === 'body') return Buffer.from(mutatedJson(value, random))
  return mutation === 'bytes' ? mutatedBytes(JSON.stringify(value), random) : Buffer.from(JSON.stringify(value))
}

const receivers = /^\/webhooks\/(stripe|paypal|authorize-net|sandbox)$/

/** The query parameters that hold a credential are allowed everywhere. */
const credentials = ['session_id', 'token']

function isValid(route: Route, texts: readonly Text[], body: Buffer | undefined): boolean {
  const known = [...credentials, ...route.parameters.map(({ name }) => name)]
  const isUnknown = ({ in: where, name }: Text) => where === 'query' && !known.includes(name)
  // Receivers take what is signed.
  if (route.method !== 'GET' && !receivers.test(route.path) && texts.some(isUnknown)) return false
  for (const { in: where, name, schema } of route.parameters) {
    const given = texts.filter((each) => each.in === where && each.name === name)
    if (given.length > 1 && where === 'query') return false
    for (const { text } of given)
      if (!validatorOf(schema)(schema.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text)) return false
  }
  // An empty body is none, and a GET ignores its body.
  if (!body?.length || route.method === 'GET') return !route.isBodyRequired
  try {
    return (
      validatorOf(route.body ?? noFields)(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))) === true
    )
  } catch {
    return false
  }
}
