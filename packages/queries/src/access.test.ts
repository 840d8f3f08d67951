// Access rules that are the same for every resource.

import { randomUUID } from 'node:crypto'
import {
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
  guest,
  type LogFixture,
  ofGuest,
  ofUser,
} from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { describedLists } from './testing/lists.ts'
import { ada, asAda, asAdmin, asGuest, callers, grace, queryApiHarness } from './testing/queryApiHarness.ts'

const { log, project, get, pool } = await queryApiHarness(t)

const canary = 'CANARY'

/** Creates a resource of an owner, with the canary in every text field. */
type Make = (log: LogFixture, owner: 'ada' | 'grace' | 'guest' | 'other' | 'anonymous') => string

const payers = {
  ada,
  grace: { ...grace, guest_email: 'guest@example.com' },
  guest: guest('guest@example.com'),
  other: guest('other@example.com'),
  anonymous: {},
}
const owners = {
  ada: ofUser(ada.payer.id),
  grace: { ...ofUser(grace.payer.id), guest_email: 'guest@example.com' },
  guest: ofGuest('guest@example.com'),
  other: ofGuest('other@example.com'),
  anonymous: { user_id: null, guest_email: null },
}

const planted = {
  description: canary,
  concept: canary,
  tags: canary,
  reference_code: canary,
  category: canary,
  metadata: { canary },
}

const resources: Readonly<Record<string, Make>> = {
  '/payments': (log, owner) => addPaymentTo(log, { ...payers[owner], ...planted }),
  '/payment-methods': (log, owner) =>
    addMethodTo(log, { ...owners[owner], alias: canary, card_brand: canary, provider_customer_id: canary }),
  '/addresses': (log, owner) => addAddressTo(log, { ...owners[owner], alias: canary, line1: canary, phone: canary }),
}

/** A guest also reads a payment that a session made for its e-mail. */
const isReadBy = (path: string, own: string, owner: string) =>
  owner === own || (path === '/payments' && own === 'guest' && owner === 'grace')

for (const [path, make] of Object.entries(resources)) {
  t.test(`${path}: responses contain only the caller's own resources [5-own-data 5-session-owns]`, async (t) => {
    const owned = {
      ada: make(log, 'ada'),
      grace: make(log, 'grace'),
      guest: make(log, 'guest'),
      other: make(log, 'other'),
      anonymous: make(log, 'anonymous'),
      missing: randomUUID(),
    }
    await project()
    for (const { own, headers } of callers) {
      for (const [owner, id] of Object.entries(owned)) {
        const response = await get(`${path}/${id}`, headers)
        const isRead = isReadBy(path, own, owner)
        t.equal(response.statusCode, isRead ? 200 : 404, `${own} reads a resource of ${owner}`)
        if (isRead) t.match(response.body, canary)
        else t.notMatch(response.body, /CANARY|example\.com/)
      }
      const { data, meta } = (await get(`${path}?limit=50`, headers)).json()
      const expected = Object.entries(owned).flatMap(([owner, id]) => (isReadBy(path, own, owner) ? [id] : []))
      t.same(data.map(({ id }: { id: string }) => id).toSorted(), expected.toSorted())
      t.equal(meta.total, expected.length)
    }
  })

  t.test(`${path}: a guest that names another e-mail gets 403 before validation [5-other-email]`, async (t) => {
    const forbidden = await get(`${path}?guest_email=other%40example.com&limit=bad`, asGuest)
    t.equal(forbidden.statusCode, 403)
    t.equal(forbidden.json().error.code, 'forbidden')
    t.equal((await get(`${path}?guest_email=other%40example.com`, asAda)).statusCode, 200)
  })

  t.test(`${path}: without a valid credential every request is 401`, async (t) => {
    const id = make(log, 'ada')
    await project()
    for (const url of [path, `${path}/${id}`, `${path}?limit=bad`, `${path}/x`]) {
      t.equal((await get(url, {})).statusCode, 401, `${url}: anonymous`)
      t.equal((await get(url, { authorization: 'Bearer invalid' })).statusCode, 401, `${url}: invalid session`)
    }
    const view = path.slice(1).replace('-', '_')
    await pool.query(`alter view read_models.${view} rename to gone`)
    const failed = await get(path)
    await pool.query(`alter view read_models.gone rename to ${view}`)
    t.equal(failed.json().error.code, 'internal_error')
    t.notMatch(failed.body, /read_models|relation|select/, 'a database error does not expose details')
  })
}

const ofAdministrators = [
  ...Object.keys(describedLists).filter((url) => url.startsWith('/admin/')),
  '/admin/stats?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z',
]

t.test(
  'routes of administrators are 401 without a credential, and 403 for others, before validation [4.7-administrators]',
  async (t) => {
    const id = addProductTo(log)
    await project()
    for (const route of [...ofAdministrators, `/admin/products/${id}`]) {
      for (const url of [route, `${route.split('?')[0]}?limit=bad&cursor=bad&from=bad`, '/admin/products/x'])
        for (const [headers, status, code] of [
          [{}, 401, 'unauthenticated'],
          [{ authorization: 'Bearer nobody' }, 401, 'unauthenticated'],
          [asAda, 403, 'forbidden'],
          [asGuest, 403, 'forbidden'],
        ] as const) {
          const response = await get(url, headers)
          t.equal(response.statusCode, status, url)
          t.equal(response.json().error.code, code, url)
        }
      t.equal((await get(route, asAdmin)).statusCode, 200, route)
    }
  },
)
