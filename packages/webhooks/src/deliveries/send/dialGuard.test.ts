import t from 'tap'
import { createAddressRule } from './endpointAgent.ts'

const noPrivate = createAddressRule([])

t.test('addresses outside the public internet are forbidden', async (t) => {
  const forbidden = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.7',
    '192.88.99.1',
    '192.0.2.1',
    '198.51.100.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::169.254.169.254',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:10::1',
    '64:ff9b::8.8.8.8',
    '::ffff:0:127.0.0.1',
    '5f00::1',
    'fd00:ec2::254',
    'fec0::1',
    'FE80::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'ff0e::1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '8.8.8.8.',
    'localhost',
    '',
  ]
  for (const address of forbidden) t.notOk(noPrivate(address), address || 'nothing')
})

t.test('public addresses are allowed', async (t) => {
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    t.ok(noPrivate(address), address)
})

t.test(
  'ranges configured by the operator are allowed, and no other private address [10.4-private-allowed]',
  async (t) => {
    const rule = createAddressRule(['127.0.0.0/8', '::1/128', '10.1.0.0/16'])
    for (const address of ['127.0.0.1', '::1', '10.1.255.1', '::ffff:127.0.0.1']) t.ok(rule(address), address)
    for (const address of ['10.2.0.1', '169.254.169.254', '::2', 'fe80::1']) t.notOk(rule(address), address)
  },
)

t.test('a range matches IPv4 and IPv4-mapped IPv6 notation', async (t) => {
  const mapped = createAddressRule(['::ffff:10.1.0.0/112'])
  for (const address of ['::ffff:10.1.2.3', '::ffff:a01:203', '10.1.2.3']) t.ok(mapped(address), address)
  for (const address of ['10.2.0.1', '::ffff:10.2.0.1']) t.notOk(mapped(address), address)
  const plain = createAddressRule(['10.1.0.0/16'])
  for (const address of ['64:ff9b::10.1.2.3', '::10.1.2.3', '2002:a01:203::']) t.notOk(plain(address), address)
})

t.test('an IPv6 zone does not change whether an address is allowed', async (t) => {
  const rule = createAddressRule(['fe80::/10'])
  t.ok(rule('fe80::1%lo'))
  t.notOk(rule('fd00::1%lo'))
  t.ok(noPrivate('2606:4700::1111%eth0'))
})
