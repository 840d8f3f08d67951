// The rules that all changes of resources share: If-Match, ids, bodies, and the order of errors. A new route is a new row.
import t from 'tap'
import { ada, admin, commandApiHarness, freshKey, type Headers } from './testing/commandApiHarness.ts'

const { send, recordsNothing } = await commandApiHarness(t)

const card = '4242 4242 4242 4242'
const address = { address_type: 'billing', line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
const product = { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490 }
const isDone = ({ status }: { readonly status: number }) => status >= 200 && status < 300

type Change = {
  readonly path: string
  readonly as: Headers
  readonly created: object
  readonly field: string
  readonly isRemovable: boolean
}

const changes: readonly Change[] = [
  { path: '/addresses', as: ada, created: address, field: 'alias', isRemovable: true },
  { path: '/admin/products', as: admin, created: product, field: 'name', isRemovable: false },
  {
    ...{ path: '/payment-methods', as: ada, field: 'alias', isRemovable: true },
    created: { payment_method_token: 'pm_card_mastercard' },
  },
]

const missing = '018f0000-0000-7000-8000-000000000001'

for (const { path, as, created, field, isRemovable } of changes) {
  const route = `${isRemovable ? 'PUT and DELETE' : 'PUT'} ${path}/{id}`
  const matching = (tag: string) => ({ ...as, 'if-match': tag })
  const put = (id: string, value: string, headers: Headers = as) =>
    send<Record<string, unknown>>('PUT', `${path}/${id}`, headers, { [field]: value })
  const remove = (id: string, headers: Headers = as) => send('DELETE', `${path}/${id}`, headers)
  /** What exists from test to test, with its ETag. A sandbox card is saved once. */
  const current = async (headers: Headers = as) => {
    const response = await send<{ id: string }>('POST', path, headers, created)
    if (!isDone(response)) throw new Error(response.text)
    const { id } = response.data
    return { id, tag: String((await put(id, freshKey()['idempotency-key'])).headers.etag), first: response.text }
  }
  const next = (tag: string) => `"${Number(tag.slice(1, -1)) + 1}"`

  t.test(
    `${route}: a change with the current ETag, also a proxy's, *, or a list with it succeeds and returns the next ETag`,
    async (t) => {
      const { id, tag } = await current()
      let etag = tag
      const proxied = (now: string) => `W/${now.slice(0, -1)}--gzip"`
      for (const form of [(now: string) => now, (now: string) => `"77", ${now}`, proxied, () => '*']) {
        const changed = await put(id, form(etag), matching(form(etag)))
        t.match(changed, { status: 200, headers: { etag: next(etag) } }, form(etag))
        etag = String(changed.headers.etag)
      }
      t.match(
        await put(id.toUpperCase(), 'x', matching('*')),
        { status: 200, data: { id } },
        'ids are case-insensitive',
      )
      if (isRemovable) t.equal((await remove(id, matching(next(etag)))).status, 200)
    },
  )

  if (isRemovable)
    t.test(`${route}: a DELETE needs no body, and one is checked`, async (t) => {
      for (const type of ['application/json', 'text/plain']) {
        const { id } = await current()
        t.equal((await remove(id, { ...as, 'content-type': type })).status, 200, type)
      }
      const { id } = await current()
      for (const [body, status] of [
        ['{', 400],
        [{ note: card }, 422],
      ] as const)
        t.match(await recordsNothing(t, () => send('DELETE', `${path}/${id}`, as, body)), { status })
      t.equal((await send('DELETE', `${path}/${id}`, as, {})).status, 200)
    })

  t.test(`${route}: with any other If-Match it is 412 with the current ETag`, async (t) => {
    const { id, tag } = await current()
    for (const form of ['"0"', next(tag), `W/${next(tag)}`, ''])
      for (const request of [
        () => put(id, 'y', matching(form)),
        ...(isRemovable ? [() => remove(id, matching(form))] : []),
      ])
        t.match(
          await recordsNothing(t, request),
          { status: 412, error: { code: 'precondition_failed', details: { etag: tag } } },
          form,
        )
  })

  t.test(`${route}: of concurrent changes with the same ETag exactly one succeeds`, async (t) => {
    const { id, tag } = await current()
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((value) => put(id, value, matching(tag))))
    t.same(all.map(({ status }) => status).toSorted(), [200, 412, 412, 412])
    const done = all.find(isDone)
    t.match(await put(id, String(done?.data[field])), { headers: { etag: next(tag) } }, 'nothing else was recorded')
  })

  t.test(`${route}: concurrent changes without If-Match all succeed`, async (t) => {
    const { id } = await current()
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((value) => put(id, value)))
    t.same([...new Set(all.map(({ status }) => status))], [200])
    t.equal(new Set(all.map(({ headers }) => headers.etag)).size, 4)
  })

  t.test(`${route}: a replayed creation is the first response after a change and a removal`, async (t) => {
    const headers = { ...as, ...freshKey() }
    const { id, first } = await current(headers)
    if (isRemovable) t.equal((await remove(id)).status, 200)
    const again = await recordsNothing(t, () => send('POST', path, headers, created))
    t.same([again.text, again.headers['idempotent-replayed']], [first, 'true'])
  })

  t.test(`${route}: an unknown id is 404, also with If-Match * and a card number`, async (t) => {
    for (const id of [missing, 'x', '%E2%80%A8'])
      for (const request of [
        () => put(id, 'x'),
        () => put(id, card, matching('*')),
        () => put(id, 'x', matching('"9"')),
        ...(isRemovable ? [() => remove(id), () => remove(id, matching('*'))] : []),
      ])
        t.match(await recordsNothing(t, request), { status: 404, error: { code: 'not_found' } }, id)
  })

  t.test(`${route}: of several errors the first one in the order of the contract is reported`, async (t) => {
    const { id } = await current()
    const sent = (to: string, body: unknown, headers: Headers) => send('PUT', `${path}/${to}`, headers, body)
    for (const [name, request, code] of [
      ['malformed, of another session', () => sent(id, '{', { 'x-session-id': 'unknown' }), 'unauthenticated'],
      ['invalid, stale', () => sent(id, { [field]: 1 }, matching('"9"')), 'invalid_request'],
      ['stale, a card', () => put(id, card, matching('"999"')), 'precondition_failed'],
      ['a card', () => put(id, card), 'card_number_rejected'],
      ['nothing', () => sent(id, {}, as), 'invalid_request'],
    ] as const)
      t.match(await recordsNothing(t, request), { error: { code } }, name)
  })
}
