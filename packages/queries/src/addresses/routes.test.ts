import { AddressResource, addressFold, changeAddress, removeAddress } from '@paylog/domain/addresses/address'
import { addAddressTo, ofUser, setDefaultIn } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, queryApiHarness } from '../testing/queryApiHarness.ts'

const ofAda = ofUser(ada.payer.id)
const occurred_at = '2026-03-02T10:00:00.000Z'

t.test('GET /addresses/{id} returns every field, and the revision as ETag [2.7-address]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const given = {
    ...ofAda,
    guest_email: 'contact@example.com',
    address_type: 'shipping' as const,
    organization_id: 'org',
    name: 'Ada',
    line1: 'Street 1',
    line2: 'Rear',
    city: 'Town',
    state: 'ST',
    postal_code: '12345',
    country: 'DE',
    is_partial: true,
    is_business: true,
    business_name: 'Business',
    tax_id: 'DE1',
    tax_id_type: 'eu_vat',
    phone: '+49 1',
    email: 'ada@example.com',
    alias: 'Home',
    guest_name: 'Guest',
  }
  const id = addAddressTo(log, { ...given, request_fingerprint: 'secret' })
  setDefaultIn(log, { list: 'shipping_addresses', chosen_id: id })
  log.record(addressFold, id, (state) => changeAddress({ occurred_at, changes: { city: 'City' } }, state))
  await project()
  const response = await get(`/addresses/${id}`)
  t.equal(response.statusCode, 200)
  t.equal(response.headers.etag, '"1"')
  t.same(response.json(), {
    success: true,
    data: {
      id,
      ...given,
      city: 'City',
      is_default: true,
      created_at: '2026-03-01T10:00:00.000Z',
      updated_at: occurred_at,
    },
  })
  t.same(Object.keys(response.json().data).sort(), Object.keys(AddressResource.properties).sort())
  t.same((await get('/addresses')).json().data, [response.json().data], 'the list contains the same')
})

t.test('GET /addresses accepts page, limit, address_type and guest_email [4-list-addresses]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const at = (hour: number) => ({ ...ofAda, occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
  const [billing, shipping, gone] = [
    addAddressTo(log, at(0)),
    addAddressTo(log, { ...at(1), address_type: 'shipping', guest_email: 'C@example.com' }),
    addAddressTo(log, at(2)),
  ]
  log.record(addressFold, gone, (state) => removeAddress({ occurred_at }, state))
  await project()
  const idsOf = async (query: string) =>
    (await get(`/addresses?${query}`)).json().data.map(({ id }: { id: string }) => id)
  t.same(await idsOf(''), [shipping, billing])
  t.same(await idsOf('limit=1&page=2'), [billing])
  t.same(await idsOf('address_type=billing'), [billing])
  t.same(await idsOf('address_type=shipping'), [shipping])
  t.same(await idsOf('guest_email=c%40EXAMPLE.com'), [shipping])
  t.same(await idsOf('guest_email=c%40example.com&address_type=billing'), [])
  t.same((await get('/addresses?limit=1')).json().meta, { page: 1, limit: 1, total: 2, hasMore: true })
  t.equal((await get(`/addresses/${gone}`)).statusCode, 404, 'a removed address is 404')
})
