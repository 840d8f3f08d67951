import t from 'tap'
import { isPattern, matchesPattern } from './patterns.ts'

const canonical = { plain: 'payment.succeeded', prefixed: null }
const native = { plain: 'subscription.updated', prefixed: 'stripe:customer.subscription.updated' }
const withoutGeneric = { plain: 'CHECKOUT.ORDER.COMPLETED', prefixed: 'paypal:CHECKOUT.ORDER.COMPLETED' }

t.test('patterns match canonical, generic and native names as specified [6.2-patterns]', async (t) => {
  const table = [
    ['all', canonical, true],
    ['all', native, true],
    ['payment.succeeded', canonical, true],
    ['payment.*', canonical, true],
    ['payment.failed', canonical, false],
    ['pay.*', canonical, false],
    ['payment.succeeded.*', canonical, false],
    ['stripe:*', canonical, false],
    ['subscription.*', native, true],
    ['subscription.updated', native, true],
    ['customer.*', native, false],
    ['customer.subscription.updated', native, false],
    ['stripe:customer.*', native, true],
    ['stripe:customer.subscription.*', native, true],
    ['stripe:customer.subscription.updated', native, true],
    ['stripe:subscription.*', native, false],
    ['stripe:*', native, true],
    ['paypal:*', native, false],
    ['CHECKOUT.*', withoutGeneric, true],
    ['CHECKOUT.ORDER.COMPLETED', withoutGeneric, true],
    ['checkout.*', withoutGeneric, false],
    ['paypal:CHECKOUT.ORDER.*', withoutGeneric, true],
  ] as const
  for (const [pattern, names, expected] of table)
    t.equal(matchesPattern(pattern, names), expected, `${pattern} on ${names.prefixed ?? names.plain}`)
})

t.test('isPattern accepts valid patterns and rejects malformed ones', async (t) => {
  const good = ['all', 'payment.*', 'payment.created', 'stripe:*', 'authorize-net:net.authorize.*', 'A.B-C.D']
  const bad = [
    '',
    '*',
    'pay*',
    'payment.*.created',
    '.created',
    'payment.',
    'stripe:',
    ':payment',
    'pay ment',
    '*.created',
    'ALL',
    'All',
  ]
  for (const text of good) t.ok(isPattern(text), text)
  for (const text of bad) t.notOk(isPattern(text), text)
})
