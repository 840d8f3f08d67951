// Every route × every caller × every owner: the status is the one of the model, and a rejected request has no effect.

import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import {
  type AccessFixture,
  createAccessFixture,
  createWebhookFixture,
  type OwnedKind,
  pathOf,
} from './accessFixture.ts'
import {
  type AccessHarness,
  type ApiResponse,
  type Client,
  createClient,
  dataOf,
  listOf,
  startAccessHarness,
} from './accessHarness.ts'
import { assertNoLeaks } from './leaks.ts'
import {
  authErrorStatus,
  expectedStatus,
  isReader,
  type Kind,
  missingId,
  ownsOrMayAccess,
  pathTo,
  type Resource,
  type Row,
  rightOf,
  rows,
  undocumented,
} from './model.ts'
import {
  ada,
  admin,
  anonymous,
  type Caller,
  callers,
  emailOf,
  g1,
  g1Upper,
  g2,
  grace,
  sessions,
  staff,
} from './people.ts'

type Named = { readonly 'x-right'?: string }
type Case = { readonly expected: number; readonly result: Promise<ApiResponse>; readonly about: string }

/** Who is in the audit trail: for reading recorded events and the log, and for changes that came too late (412). */
const auditedPeople = sessions.flatMap(({ user: { id, userType } }) =>
  ['admin', 'read', 'export', 'refund', 'limited'].includes(userType) ? [`session:${id}`] : [],
)

const every = Object.entries({ ...rows, ...undocumented })

/**
 * Ids without an owner: well-formed ids of no resource, and impossible ones (malformed, or of another kind).
 */
function idsWithoutOwner(
  kind: Kind,
  { resources }: AccessFixture,
): readonly [missing: Resource[], impossible: Resource[]] {
  const ids = ['no-uuid', 'setup-intent', '%2e%2e', "'%20or%20true--", `${missingId}%0a`, `${missingId}x`]
  const others = Object.entries(resources).flatMap(([other, [resource]]) =>
    other === kind || !resource ? [] : [resource.id],
  )
  const withoutOwner = (id: string) => ({ name: `the id ${id}`, id, owner: null })
  return [[withoutOwner(missingId)], [...ids, ...others].map(withoutOwner)]
}

/** Ways to make a request wrong, and the status for a caller with access. */
function flaws({ body, mayNotBeEmpty }: Row) {
  if (body === undefined) return []
  const json = { 'content-type': 'application/json' }
  return [
    { name: 'no JSON', status: 400, headers: json, body: '{' },
    { name: 'a key twice', status: 400, headers: json, body: '{"alias":"a","alias":"b"}' },
    { name: 'a text', status: 415, headers: { 'content-type': 'text/plain' }, body: 'alias' },
    ...(mayNotBeEmpty ? [{ name: 'nothing', status: 400, headers: {}, body: {} }] : []),
  ]
}

function* readsAndErrors({ send }: Client, fixture: AccessFixture): Generator<Case> {
  for (const [route, row] of every) {
    const [method = '', template = ''] = route.split(' ')
    for (const caller of [...callers, ...staff]) {
      const authError = authErrorStatus(row, caller)
      // Without a valid credential, two resources of an owner do not differ, and neither do they to who owns nothing.
      const isAnyOfOwner = authError !== undefined || staff.includes(caller)
      const one = (expected: number, path: string, about: string, options = {}): Case => ({
        expected,
        about: `${caller.name}: ${method} ${about}`,
        result: send(caller, method, path, options),
      })
      if (row.status !== undefined) yield one(authError ?? row.status, template, template)
      if (row.access === 'provider')
        yield one(template.endsWith('sandbox') ? 400 : 404, template, template, { body: { id: 'evt_1' } })
      if (row.item) {
        const [missing, impossible] = idsWithoutOwner(row.item, fixture)
        const { changes = false, takesIfMatch } = row
        const request = row.body === undefined ? {} : { body: row.body }
        const owned = fixture.resources[row.item]
        for (const resource of [...(isAnyOfOwner ? oneOfEach(owned) : owned), ...missing]) {
          const expected = expectedStatus(row, caller, resource)
          const path = pathTo(template, resource)
          const about = `${template} ${resource.name}`
          if (!changes || expected !== 200) yield one(expected, path, about, request)
          // The request content does not change the status of a caller without access. One owner is enough to test it.
          if (!changes || (isAnyOfOwner && resource.owner !== 'g1')) continue
          const stale = { ...request, headers: { 'if-match': '"77"' } }
          if (takesIfMatch) yield one(expected === 200 ? 412 : expected, path, `${about}, stale`, stale)
          for (const { name, status, ...flawed } of flaws(row))
            yield one(authError ?? status, path, `${about} with ${name}`, flawed)
        }
        for (const resource of isAnyOfOwner ? impossible.slice(0, 2) : impossible)
          yield one(expectedStatus(row, caller, resource), pathTo(template, resource), resource.name, request)
      } else if (row.body) {
        for (const { name, status, ...flawed } of flaws(row))
          yield one(
            authError ?? rejectedGuest(route, caller, name) ?? status,
            template,
            `${template} with ${name}`,
            flawed,
          )
        if (authError !== undefined) yield one(authError, template, template, { body: row.body })
      }
    }
  }
}

/** A guest token creates no payment without guest_data (rule 4). This is checked as soon as the body is parsed. */
function rejectedGuest(route: string, { standing }: Caller, flaw: string): 403 | undefined {
  return route === 'POST /payments/intents' && standing === 'guest' && flaw === 'nothing' ? 403 : undefined
}

/** One resource of each owner. */
function oneOfEach(resources: readonly Resource[]): Resource[] {
  return [...new Map(resources.map((resource) => [resource.owner, resource])).values()]
}

/** Only the audit trail may grow, by what administrators read or asked for, and the guest tokens that have read a payment. */
async function assertNothingRecorded(t: Test, { store }: AccessHarness, act: () => Promise<void>): Promise<void> {
  const before = await store.head()
  await act()
  const recorded: string[] = []
  const administrators = new Set<string>()
  for await (const { stream, type, metadata } of store.readLog({ prefixes: [''], from: before })) {
    if (type === 'AdministratorActed') administrators.add(metadata.actor)
    else if (type !== 'GuestTokenSeen') recorded.push(`${stream} ${type}`)
  }
  t.same(recorded, [], 'nothing is recorded')
  t.same([...administrators].sort(), auditedPeople.sort(), 'no other caller is in the audit trail')
}

type Entry = { readonly id: string; readonly status: string; readonly response: { readonly node: string } }

const entriesOf = (result: ApiResponse): readonly Entry[] => JSON.parse(result.text)

t.test('every route gives every caller the access of the model', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl)
  const { send } = client
  const created = await createAccessFixture(system, client)
  const log = await createWebhookFixture(system, client, created)
  // All entries have their own test.
  const fixture: AccessFixture = { ...created, resources: { ...created.resources, log: oneOfEach(log) } }

  t.test('the access model has exactly the routes of the service', async (t) => {
    const { json } = await send(anonymous, 'GET', '/openapi.json')
    const routes = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    t.same(routes.sort(), Object.keys(rows).sort())
  })

  t.test('the document names the right of each route, and 403 the one that is missing', async (t) => {
    const { json } = await send(anonymous, 'GET', '/openapi.json')
    for (const [path, methods] of Object.entries(json.paths as Record<string, Record<string, Named>>))
      for (const [name, { 'x-right': named }] of Object.entries(methods)) {
        const method = name.toUpperCase()
        const row = rows[`${method} ${path}`]
        t.equal(named, row && rightOf(row), `${method} ${path}`)
        if (named === undefined) continue
        const anyOf = named.split(' or ')
        for (const caller of [ada, ...staff]) {
          const { status, text } = await send(caller, method, path.replaceAll(/\{\w+\}/g, missingId))
          const isAllowed = anyOf.some((right) => caller.rights.some((own) => own === right))
          t.equal(status === 403, !isAllowed, `${caller.name}: ${method} ${path}: ${status}`)
          if (!isAllowed) t.match(JSON.parse(text), { error: { code: 'forbidden', details: { right: named } } })
        }
      }
  })

  t.test('a limit is for each refund of every payment, and nothing is recorded beyond it', async (t) => {
    const before = await system.store.head()
    const limited = staff.filter(({ name }) => name.includes('limited'))
    t.equal(limited.length, 1)
    for (const caller of limited)
      for (const { id, name } of fixture.resources.payment.filter(({ name }) => /^of \w+$/.test(name)))
        for (const body of [{ amount_cents: 501 }, {}]) {
          const { status, json } = await send(caller, 'POST', `/payments/${id}/refunds`, { body })
          const details = { right: 'refund', limit_cents: 500 }
          t.match({ status, json }, { status: 403, json: { error: { code: 'forbidden', details } } }, name)
        }
    t.same(await system.store.head(), before)
  })

  t.test(
    'reads and rejected requests have the status of the access model [4-access 1-products 4.4-sessions-only 4.8-administrators 4.9-sessions-only 5-no-guest-payment 5-products-write]',
    async (t) => {
      await assertNothingRecorded(t, system, async () => {
        const cases = [...readsAndErrors(client, fixture)]
        const wrong: string[] = []
        for (const { expected, about, result } of cases) {
          const { status, text } = await result
          if (status !== expected) wrong.push(`${about}: ${status} instead of ${expected}: ${text.slice(0, 200)}`)
        }
        t.comment(`${cases.length} cases`)
        t.same(wrong, [])
      })
    },
  )

  t.test('lists contain exactly the resources of the caller for every query [4-own-lists]', async (t) => {
    const others = ['user_id=00000000-0000-4000-8000-000000000001', 'limit=50&page=1', 'email=a']
    const more = {
      payment: ['include=payment_method', 'search=CANARY.'],
      method: [],
      address: ['address_type=billing'],
    }
    for (const [kind, path] of Object.entries(pathOf) as [OwnedKind, string][]) {
      for (const caller of callers) {
        const own = fixture.resources[kind]
          .filter((each) => (each.owner !== null && each.owner === caller.owner) || isReader(caller, each))
          .map(({ id }) => id)
        for (const query of ['', ...others, ...more[kind]]) {
          const result = await send(caller, 'GET', `${path}?${query}`)
          const authError = authErrorStatus({ access: 'known' }, caller)
          t.equal(result.status, authError ?? 200, `${caller.name}: ${path}?${query}`)
          if (!authError)
            t.same(new Set(listOf(result).map(({ id }) => id)), new Set(own), `${caller.name}: ${path}?${query}`)
        }
      }
    }
  })

  t.test('guest_email narrows a list to own resources, and guests may name their own e-mail only', async (t) => {
    for (const [kind, path] of Object.entries(pathOf) as [OwnedKind, string][])
      for (const caller of [ada, grace, admin, g1, g1Upper, g2])
        for (const email of new Set(Object.values(emailOf))) {
          const result = await send(caller, 'GET', `${path}?guest_email=${email}`)
          const what = `${caller.name}: ${path} of ${email}`
          const own = fixture.resources[kind].filter((each) => each.owner === caller.owner || isReader(caller, each))
          const isGuest = caller.standing === 'guest'
          const isOwn = caller.owner === (email === emailOf.g1 ? 'g1' : 'g2') && email === emailOf[caller.owner]
          t.equal(result.status, !isGuest || isOwn ? 200 : 403, what)
          if (result.status !== 200) continue
          const contacts = own.filter(({ name }) => email === emailOf.g1 && name.includes('contact'))
          const expected = isGuest ? own : contacts
          t.same(new Set(listOf(result).map(({ id }) => id)), new Set(expected.map(({ id }) => id)), what)
        }
  })

  t.test('foreign, deleted, missing and malformed ids get the same 404 [5-foreign 4.3-not-found]', async (t) => {
    const words = new Map<string, Set<string>>()
    for (const { request, status, json, headers } of client.responses.filter(({ status }) => status === 404)) {
      const { error } = json as { error?: { request_id: string } }
      const kind = request.includes(`/refunds/${missingId}`) ? ' refund' : ''
      const route = request.split('/', request.includes(' /admin/') ? 3 : 2).join('/') + kind
      const { date, 'x-request-id': _id, ...rest } = headers
      const content = JSON.stringify({
        status,
        error: { ...error, request_id: '' },
        rest: { ...rest, date: date && '' },
      })
      words.set(route, (words.get(route) ?? new Set()).add(content))
    }
    t.ok(words.size > 6)
    for (const [route, content] of words) t.equal(content.size, 1, `${route}: ${[...content].join('\n')}`)
  })

  const row = rows['GET /webhooks/logs'] ?? { access: 'public' }
  const path = '/webhooks/logs?limit=1000'

  t.test('the webhook log has entries of every owner, endpoint and mode', async (t) => {
    t.same(
      log.filter(({ owner }) => owner === null),
      [],
      'every log entry has a known owner',
    )
    const entries = entriesOf(await send(admin, 'GET', path))
    const nodes = new Set(entries.map(({ response }) => response.node))
    t.same([...nodes].sort(), ['1', '2', '3', '4', '5', 'legacy-1'])
    for (const [node, { received }] of Object.entries(system.endpoints)) t.ok(received.length > 8, node)
    for (const { status, response } of entries) t.equal(status, response.node === '4' ? 'failed' : 'success')
  })

  t.test('the webhook log contains exactly the entries of the caller for every query [10.4-log-own]', async (t) => {
    for (const caller of [...callers, ...staff]) {
      const authError = authErrorStatus(row, caller)
      const own = log.filter((entry) => ownsOrMayAccess(row, caller, entry)).map(({ id }) => id)
      for (const query of ['', '&user_id=00000000-0000-4000-8000-000000000001', '&page=1&search=canary', '&offset=0']) {
        const result = await send(caller, 'GET', `${path}${query}`)
        t.equal(result.status, authError ?? 200, `${caller.name}: ${query}`)
        if (!authError) t.same(new Set(entriesOf(result).map(({ id }) => id)), new Set(own), `${caller.name}: ${query}`)
      }
      for (const query of ['status=success', 'status=failed', 'provider=sandbox', 'event_type=payment.succeeded'])
        if (!authError) {
          const found = entriesOf(await send(caller, 'GET', `${path}&${query}`))
          t.equal(found.length > 0, own.length > 0, `${caller.name}: ${query}`)
          t.ok(
            found.every(({ id }) => own.includes(id)),
            `${caller.name}: ${query}`,
          )
        }
    }
  })

  t.test('a webhook log entry can be read by exactly the callers that can list it', async (t) => {
    for (const caller of [ada, grace, admin]) {
      const listed = new Map(entriesOf(await send(caller, 'GET', path)).map((entry) => [entry.id, entry]))
      for (const { id, name } of log) {
        const result = await send(caller, 'GET', `/webhooks/logs/${id}`)
        t.equal(result.status, listed.has(id) ? 200 : 404, `${caller.name}: ${name}`)
        if (listed.has(id)) t.same(dataOf(result), listed.get(id), `${caller.name}: ${name}`)
      }
    }
  })

  t.test('a response body that quotes the endpoint URL is logged without the secret in it', async (t) => {
    const failed = entriesOf(await send(ada, 'GET', `${path}&status=failed`))
    t.ok(failed.length > 0)
    for (const { response } of failed) t.match(response, { body: /^out of order: / })
  })

  t.test('the matrix leaked nothing to responses, webhooks or logs', (t) => assertNoLeaks(t, system, client, fixture))

  t.test('webhook tests requested while the worker was down are visible to their caller only', async (t) => {
    await system.kill('worker')
    const tested = await send(grace, 'POST', '/webhooks/test', { body: { event: 'payment.succeeded' } })
    t.equal(tested.status, 202)
    await system.start('worker')
    const before = new Set(log.map(({ id }) => id))
    const fresh = async () => entriesOf(await send(grace, 'GET', path)).filter(({ id }) => !before.has(id))
    await waitFor(async () => (await fresh()).length >= 4, { what: 'the test', timeoutMs: 20_000 })
    const ids = (await fresh()).map(({ id }) => id)
    for (const id of ids) t.equal((await send(ada, 'GET', `/webhooks/logs/${id}`)).status, 404)
    t.notOk(entriesOf(await send(ada, 'GET', path)).some(({ id }) => ids.includes(id)))
  })
})
