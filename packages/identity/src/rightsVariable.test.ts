import { loadConfig } from '@paylog/runtime/config/environment'
import t from 'tap'
import { Type } from 'typebox'
import { identityVariables } from './identity.ts'
import { parseRights } from './rightsVariable.ts'

const read = (RIGHTS?: string) => [...loadConfig(Type.Object({ RIGHTS: identityVariables.RIGHTS }), { RIGHTS }).RIGHTS]

t.test('RIGHTS gives user types their rights, and a limit to one refund', async (t) => {
  t.same(read('support=read,refund:50000; auditor=read,export; service=charge,export'), [
    ['support', { rights: ['read', 'refund'], refund_limit_cents: 50_000 }],
    ['auditor', { rights: ['read', 'export'], refund_limit_cents: null }],
    ['service', { rights: ['charge', 'export'], refund_limit_cents: null }],
  ])
})

t.test('RIGHTS may be empty, and have blanks, line ends and separators without anything between', async (t) => {
  for (const text of [undefined, '', ' ', ';', ' ; \n ;']) t.same(read(text), [], JSON.stringify(text))
  const loose = parseRights('\n  shop staff = read , refund : 999999999999 ,;\n;Support=refund;support=read;  ')
  t.same(
    [...loose],
    [
      ['shop staff', { rights: ['read', 'refund'], refund_limit_cents: 999_999_999_999 }],
      ['Support', { rights: ['refund'], refund_limit_cents: null }],
      ['support', { rights: ['read'], refund_limit_cents: null }],
    ],
  )
})

t.test('a mistake in RIGHTS stops the start in one line that names the variable and the entry', async (t) => {
  const mistakes = {
    'have no other rights than read, refund, operate, export, privacy, charge': [
      ...['a=reed', 'a=Read', 'a=read refund', 'a=*', 'a=constructor', 'a=:5', 'a=admin'],
    ],
    'have as the limit of refund a whole number from 1 to 999999999999, such as refund:50000 for 500.00': [
      ...['a=refund:', 'a=refund:0', 'a=refund:-1', 'a=refund:+1', 'a=refund:500.00'],
      ...['a=refund:1e3', 'a=refund:0x5', 'a=refund:1000000000000', 'a=refund:99999999999999999999', 'a=refund:1:2'],
      ...['a=refund:5 0', 'a=refund:EUR'],
    ],
    'have a limit for refund alone': ['a=read:5', 'a=charge:100', 'a=read:write:1', 'a=refund,export:'],
    'name a user type only once': ['a=read;a=read', 'a=read; a =export'],
    'name a right only once for a user type': ['a=read,read', 'a=refund,refund:5'],
    'have a user type, = and its rights in each entry': [
      ...['a', 'a=', 'a= ,', '=read', ' =read', 'read,refund', 'a=read=refund', 'a:read', 'a=read auditor=read'],
    ],
  }
  for (const [expected, texts] of Object.entries(mistakes))
    for (const text of texts) {
      const message = t.throws(() => read(`first=read;${text}`), text)
      t.match(message, { name: 'ConfigError' })
      const line = String(message)
      t.ok(line.includes(`Bad configuration: RIGHTS must ${expected}`), `${text}: ${line}`)
      t.match(line, /\(entry [23] of [23]\)$/)
      t.notMatch(line, /\n|first/)
    }
})
