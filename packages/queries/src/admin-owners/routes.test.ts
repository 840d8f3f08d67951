import { addressFold, removeAddress } from '@paylog/domain/addresses/address'
import { addAddressTo, addMethodTo, ofGuest, ofUser, setDefaultIn } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAda, asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const ofAda = ofUser(ada.payer.id)
const demoGuest = 'demo-guest@example.com'
const at = (hour: number) => ({ occurred_at: `2026-03-01T1${hour}:00:00.000Z` })

const lists = [
  { path: 'payment-methods', add: addMethodTo },
  { path: 'addresses', add: addAddressTo },
] as const

for (const { path, add } of lists) {
  t.test(`GET /admin/${path} lists what an owner sees, item for item and page for page`, async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const ids = [0, 1, 2].map((hour) => add(log, { ...ofAda, ...at(hour), guest_email: 'Contact@example.com' }))
    add(log, { ...ofGuest('kim@example.com'), ...at(3) })
    await project()
    for (const page of ['', '&page=2', '&limit=2', '&limit=2&page=2', '&limit=50&page=9']) {
      const own = (await get(`/${path}?${page}`, asAda)).json()
      const shown = (await get(`/admin/${path}?user_id=${ada.payer.id}${page}`, asAdmin)).json()
      t.same(shown, { success: true, data: own.data, meta: own.meta }, page)
    }
    const { data } = (await get(`/admin/${path}?user_id=${ada.payer.id}`, asAdmin)).json()
    t.same(
      data.map(({ id }: { id: string }) => id),
      ids.toReversed(),
    )
  })

  t.test(
    `GET /admin/${path} finds a guest by e-mail in any ASCII case, and nothing of a user with that e-mail`,
    async (t) => {
      const { log, project, get } = await queryApiHarness(t)
      const id = add(log, { ...ofGuest('Kim@Example.com'), ...at(0) })
      add(log, { ...ofAda, ...at(1), guest_email: 'kim@example.com' })
      await project()
      const of = async (email: string) =>
        (await get(`/admin/${path}?guest_email=${encodeURIComponent(email)}`, asAdmin))
          .json()
          .data.map(({ id }: { id: string }) => id)
      t.same(await of('kim@example.com'), [id])
      t.same(await of('KIM@EXAMPLE.COM'), [id])
      // A Kelvin sign is another letter.
      t.same(await of('\u212aim@example.com'), [])
      t.same(await of(demoGuest), [])
    },
  )

  t.test(`GET /admin/${path} without exactly one owner is 400`, async (t) => {
    const { get } = await queryApiHarness(t)
    for (const [query, field] of [
      ['', 'user_id'],
      ['?page=1', 'user_id'],
      [`?user_id=${ada.payer.id}&guest_email=kim@example.com`, 'guest_email'],
      ['?user_id=', 'user_id'],
      ['?guest_email=', 'guest_email'],
      ['?user_id=a&user_id=b', 'user_id'],
    ])
      t.match(
        (await get(`/admin/${path}${query}`, asAdmin)).json(),
        { success: false, error: { code: 'invalid_request', details: { fields: [{ field }] } } },
        query ?? '',
      )
  })
}

t.test('GET /admin/addresses filters by address_type and shows the default and no removed address', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const billing = addAddressTo(log, { ...ofAda, ...at(0) })
  const shipping = addAddressTo(log, { ...ofAda, ...at(1), address_type: 'shipping' })
  const removed = addAddressTo(log, { ...ofAda, ...at(2) })
  setDefaultIn(log, { list: 'shipping_addresses', chosen_id: shipping })
  log.record(addressFold, removed, (state) => removeAddress(at(3), state))
  await project()
  const listed = async (query: string) =>
    (await get(`/admin/addresses?user_id=${ada.payer.id}${query}`, asAdmin))
      .json()
      .data.map(({ id, is_default }: { id: string; is_default: boolean }) => [id, is_default])
  t.same(await listed(''), [
    [shipping, true],
    [billing, false],
  ])
  t.same(await listed('&address_type=billing'), [[billing, false]])
})
