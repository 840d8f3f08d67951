// The fake Stripe's products and prices behave like Stripe's.
import t, { type Test } from 'tap'
import { matchList } from '../assertions.ts'
import { startFakeStripe } from './fakeStripe.ts'

type Body = {
  readonly id?: string
  readonly has_more?: boolean
  readonly data?: readonly { readonly id: string }[]
  readonly error?: Readonly<Record<string, unknown>>
}

async function started(t: Test) {
  const fake = await startFakeStripe(t)
  const headers = { authorization: `Bearer ${fake.secretKey}` }
  const read = async (response: Response) => {
    const body: Body = JSON.parse(await response.text())
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
  }
  const send = async (path: string, form: string) =>
    read(
      await fetch(`${fake.origin}/v1/${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: form,
      }),
    )
  const get = async (path: string) => read(await fetch(`${fake.origin}/v1/${path}`, { headers }))
  return { fake, send, get }
}

async function withProduct(t: Test) {
  const { fake, send, get } = await started(t)
  const id = 'course-7'
  await send('products', `id=${id}&name=Course&metadata[product_id]=p1&metadata[shelf]=7`)
  const price = async (form = 'currency=eur&unit_amount=2599') =>
    (await send('prices', `product=${id}&${form}`)).body.id ?? ''
  return { fake, send, get, id, price }
}

t.test('fake Stripe: a product gets the requested id, which cannot be used again', async (t) => {
  const { fake, send, get } = await started(t)
  t.match(await send('products', 'id=course-7&name=Course'), { status: 200, body: { id: 'course-7', name: 'Course' } })
  t.match(await send('products', 'id=course-7&name=Other'), {
    status: 400,
    body: { error: { type: 'invalid_request_error', code: 'resource_already_exists' } },
  })
  t.match(await send('products', 'name=Course'), { status: 200, body: { id: /^prod_/ } })
  t.match(await get('products/course-7'), { status: 200, body: { name: 'Course', active: true, default_price: null } })
  t.match(await get('products/course-8'), { status: 404, body: { error: { code: 'resource_missing' } } })
  matchList(t, fake.products(), [{ id: 'course-7' }, { name: 'Course' }])
  matchList(t, fake.events, [{ type: 'product.created' }, { type: 'product.created' }])
})

t.test('fake Stripe: an invalid catalogue request gets Stripe’s error', async (t) => {
  const { fake, send, id, price } = await withProduct(t)
  const other = (await send('products', 'name=Other')).body.id
  const foreign = (await send('prices', `product=${other}&currency=eur&unit_amount=1`)).body.id
  const archived = await price()
  fake.archivePrice(archived)
  const [events, prices] = [fake.events.length, fake.pricesOf(id).length]
  const priced = `product=${id}&currency=eur&unit_amount=2599`
  const forms: readonly [string, string, string | undefined, string | undefined][] = [
    ['products', 'description=x', 'parameter_missing', 'name'],
    ['products', 'name=', 'parameter_invalid_empty', 'name'],
    ['products', 'name=x&description=', 'parameter_invalid_empty', 'description'],
    ['products', 'name=x&colour=red', 'parameter_unknown', 'colour'],
    ['products', 'name=x&active=yes', undefined, 'active'],
    [`products/${id}`, 'id=other', 'parameter_unknown', 'id'],
    [`products/${id}`, 'default_price=price_missing', 'resource_missing', 'default_price'],
    [`products/${id}`, `default_price=${foreign}`, undefined, 'default_price'],
    [`products/${id}`, `default_price=${archived}`, undefined, 'default_price'],
    ['prices', 'currency=eur&unit_amount=2599', 'parameter_missing', 'product'],
    ['prices', `product=${id}&currency=eur`, 'parameter_missing', 'unit_amount'],
    ['prices', `product=${id}&unit_amount=2599`, 'parameter_missing', 'currency'],
    ['prices', 'product=prod_missing&currency=eur&unit_amount=2599', 'resource_missing', 'product'],
    ['prices', `product=${id}&currency=euro&unit_amount=2599`, undefined, 'currency'],
    ['prices', `product=${id}&currency=eur&unit_amount=25.99`, 'parameter_invalid_integer', 'unit_amount'],
    ['prices', `product=${id}&currency=eur&unit_amount=-1`, 'parameter_invalid_integer', 'unit_amount'],
    ['prices', `product=${id}&currency=eur&unit_amount=100000000`, 'amount_too_large', 'unit_amount'],
    ['prices', `product=${id}&currency=kwd&unit_amount=2599`, undefined, 'unit_amount'],
    ['prices', `product=${id}&currency=isk&unit_amount=2599`, undefined, 'unit_amount'],
    ['prices', `${priced}&recurring[interval_count]=1`, 'parameter_missing', 'recurring[interval]'],
    ['prices', `${priced}&recurring[interval]=decade`, undefined, 'recurring[interval]'],
    [
      'prices',
      `${priced}&recurring[interval]=month&recurring[trial_period_days]=731`,
      'parameter_invalid_integer',
      'recurring[trial_period_days]',
    ],
    [
      'prices',
      `${priced}&recurring[interval]=month&recurring[trial_period_days]=0`,
      'parameter_invalid_integer',
      undefined,
    ],
    [`prices/${archived}`, 'unit_amount=1', 'parameter_unknown', 'unit_amount'],
    [`prices/${archived}`, 'currency=usd', 'parameter_unknown', 'currency'],
  ]
  for (const [path, form, code, param] of forms) {
    const { status, body } = await send(path, form)
    t.equal(status, 400, form)
    t.equal(body.error?.code, code, form)
    if (param !== undefined) t.equal(body.error?.param, param, form)
  }
  t.equal((await send('products/missing', 'name=x')).status, 404)
  t.equal((await send('prices/price_missing', 'active=false')).status, 404)
  t.same([fake.events.length, fake.pricesOf(id).length, fake.products().length], [events, prices, 2])
})

t.test('fake Stripe: an update keeps missing fields, clears empty ones and merges metadata', async (t) => {
  const { fake, send, id } = await withProduct(t)
  await send(`products/${id}`, 'description=Twelve+lessons&metadata[shelf]=&metadata[room]=2')
  t.match(fake.product(id), { name: 'Course', description: 'Twelve lessons' })
  t.same(fake.product(id).metadata, { product_id: 'p1', room: '2' })
  await send(`products/${id}`, 'description=&name=Renamed&active=false')
  t.match(fake.product(id), { name: 'Renamed', description: null, active: false })
  await send(`products/${id}`, 'name=Renamed')
  matchList(t, fake.events, [
    { type: 'product.created' },
    { type: 'product.updated', data: { previous_attributes: { description: null, metadata: { shelf: '7' } } } },
    { type: 'product.updated', data: { previous_attributes: { name: 'Course', active: true } } },
  ])
})

t.test('fake Stripe: a price cannot be changed, but archived and reactivated', async (t) => {
  const { fake, send, get, id, price } = await withProduct(t)
  const monthly = await price('currency=EUR&unit_amount=0&recurring[interval]=month&recurring[trial_period_days]=14')
  t.match(await get(`prices/${monthly}`), {
    status: 200,
    body: {
      product: id,
      unit_amount: 0,
      currency: 'eur',
      type: 'recurring',
      recurring: { interval: 'month', interval_count: 1, trial_period_days: 14 },
    },
  })
  t.match(await send(`prices/${monthly}`, 'active=false'), { status: 200, body: { active: false } })
  t.match(await send(`prices/${monthly}`, 'active=false'), { status: 200 })
  t.match(await send(`prices/${monthly}`, 'active=true'), { status: 200, body: { active: true } })
  matchList(
    t,
    fake.events.filter(({ type }) => type.startsWith('price.')),
    [{ type: 'price.created' }, { type: 'price.updated' }, { type: 'price.updated' }],
  )
})

t.test('fake Stripe: a default price cannot be archived', async (t) => {
  const { fake, send, id, price } = await withProduct(t)
  const only = await price()
  t.equal(fake.product(id).default_price, null, 'no default price at first')
  t.match(await send(`products/${id}`, `default_price=${only}`), { body: { default_price: only } })
  t.match(await send(`prices/${only}`, 'active=false'), {
    status: 400,
    body: { error: { message: /default price/, code: undefined } },
  })
  t.throws(() => fake.archivePrice(only), /default price/)
  t.match(await send(`products/${id}`, 'default_price='), { body: { default_price: null } })
  t.match(await send(`prices/${only}`, 'active=false'), { status: 200, body: { active: false } })
})

t.test('fake Stripe: prices are listed page by page, newest first', async (t) => {
  const { fake, get, id, price } = await withProduct(t)
  const made: string[] = []
  for (let index = 0; index < 12; index++) made.push(await price())
  const [oldest = '', ...rest] = made
  fake.archivePrice(oldest)
  const ids = async (query: string) => {
    const { body } = await get(`prices?${query}`)
    return { ids: body.data?.map((found) => found.id), has_more: body.has_more }
  }
  const newest = made.toReversed()
  t.same(await ids(`product=${id}`), { ids: newest.slice(0, 10), has_more: true })
  t.same(await ids(`product=${id}&limit=100`), { ids: newest, has_more: false })
  t.same(await ids(`product=${id}&limit=12`), { ids: newest, has_more: false })
  t.same(await ids(`product=${id}&active=true&limit=100`), { ids: rest.toReversed(), has_more: false })
  t.same(await ids(`product=${id}&active=false`), { ids: [oldest], has_more: false })
  const after = `limit=3&starting_after=${newest[3]}`
  t.same(await ids(`product=${id}&${after}`), { ids: newest.slice(4, 7), has_more: true })
  t.equal((await get('prices?limit=101')).status, 400)
  t.equal((await get('prices?product=missing')).status, 400)
  t.equal((await get('prices?starting_after=price_missing')).status, 400)
  t.same(await ids('limit=100'), { ids: newest, has_more: false }, 'of all products')
})

t.test('fake Stripe: the merchant can delete a product with its prices', async (t) => {
  const { fake, get, id, price } = await withProduct(t)
  const only = await price()
  matchList(t, fake.deleteProduct(id), [{ type: 'price.deleted' }, { type: 'product.deleted' }])
  t.equal((await get(`products/${id}`)).status, 404)
  t.equal((await get(`prices/${only}`)).status, 404)
})

t.test('fake Stripe: requests above the rate limit get 429 and are not executed', async (t) => {
  const { fake, send, get } = await started(t)
  fake.rateLimit.set({ perSecond: 3, retryAfter: '1' })
  const responses = await Promise.all(Array.from({ length: 8 }, (_, index) => send('products', `name=${index}`)))
  t.same(responses.map(({ status }) => status).toSorted(), [200, 200, 200, 429, 429, 429, 429, 429])
  t.match(
    responses.find(({ status }) => status === 429),
    { retryAfter: '1', body: { error: { code: 'rate_limit' } } },
  )
  t.equal(fake.products().length, 3)
  t.equal(fake.rateLimit.rejected(), 5)
  t.equal((await get('prices')).status, 429, 'reads as well')
  fake.rateLimit.set(null)
  t.equal((await get('prices')).status, 200)
})
