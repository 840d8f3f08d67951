import t from 'tap'
import { clientNetwork, inRanges, isProxyRange, isRange, oneSite } from './networks.ts'

t.test('clientNetwork returns an IPv4 address itself, in any notation', async (t) => {
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '192.0.2.1:443', '[::ffff:192.0.2.1]:443'])
    t.equal(clientNetwork(address), '192.0.2.1', address)
})

t.test('clientNetwork returns the /64 of an IPv6 address', async (t) => {
  const same = ['2001:db8::1', '2001:0DB8:0:0:ffff::', '2001:db8:0:0:1:2:3:4', '2001:db8::1%eth0', '[2001:db8::9]:443']
  for (const address of same) t.equal(clientNetwork(address), '2001:db8:0:0::/64', address)
  t.equal(clientNetwork('2001:db8:0:1::1'), '2001:db8:0:1::/64')
  t.equal(clientNetwork('::1'), '0:0:0:0::/64')
  t.equal(clientNetwork('1:2:3:4:5:6:1.2.3.4'), '1:2:3:4::/64')
})

t.test('clientNetwork with oneSite returns the /24 of IPv4 and the /48 of IPv6', async (t) => {
  for (const address of ['192.0.2.1', '192.0.2.254:443', '::ffff:192.0.2.9', '::ffff:c000:2ff'])
    t.equal(clientNetwork(address, oneSite), '192.0.2.0/24', address)
  for (const address of ['2001:db8::1', '2001:0DB8:0:ffff::', '[2001:db8:0:1::9]:443'])
    t.equal(clientNetwork(address, oneSite), '2001:db8:0::/48', address)
  t.equal(clientNetwork('192.0.3.1', oneSite), '192.0.3.0/24')
  t.equal(clientNetwork('2001:db8:1::1', oneSite), '2001:db8:1::/48')
  t.equal(clientNetwork('nonsense', oneSite), 'unknown')
})

t.test('clientNetwork returns unknown for an invalid address', async (t) => {
  for (const address of ['', 'unknown', '_hidden', '1.2.3', '1.2.3.4.5', '999.0.0.1', 'a'.repeat(9_000), '[]', ':1'])
    t.equal(clientNetwork(address), 'unknown', address)
})

t.test('isRange and isProxyRange distinguish ranges, addresses and other text', async (t) => {
  for (const text of ['127.0.0.0/8', '::1/128', 'fc00::/7', '::ffff:10.0.0.0/104']) {
    t.ok(isRange(text), text)
    t.ok(isProxyRange(text), text)
  }
  for (const text of ['0.0.0.0/0', '128.0.0.0/7', '::/0', '2000::/3']) {
    t.ok(isRange(text), text)
    t.notOk(isProxyRange(text), `${text} is too wide for proxies`)
  }
  for (const text of ['127.0.0.1', '::1', 'fe80::1%eth0']) {
    t.notOk(isRange(text), text)
    t.ok(isProxyRange(text), text)
  }
  for (const text of [
    '',
    '/',
    '10/8',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'host/8',
    '1.2.3.4/x',
    'fe80::1%eth0/64',
    'a/8',
  ])
    t.notOk(isRange(text) || isProxyRange(text), text)
})

t.test('inRanges matches IPv4 and IPv6 addresses by their prefix bits', async (t) => {
  const is = inRanges(['10.0.0.0/8', '2001:db8::/32'])
  for (const address of ['10.255.0.1', '2001:db8:ffff::1']) t.ok(is(address), address)
  for (const address of ['11.0.0.1', '2001:db9::1', '::10.0.0.1', 'localhost', '']) t.notOk(is(address), address)
  t.throws(() => inRanges(['nonsense']), /not a CIDR range/)
})
