import t from 'tap'
import { requireMatch } from './ifMatch.ts'

const isMet = (header: string | undefined, revision: bigint | 'no_stream' = 7n) => {
  try {
    requireMatch(header, revision)
    return true
  } catch (error) {
    t.match(error, { code: 'precondition_failed', status: 412 })
    return false
  }
}

t.test('no If-Match, * and the current ETag match, alone or in a list [10.1-if-match]', async (t) => {
  for (const header of [
    undefined,
    '*',
    ' * ',
    '"7"',
    ' "7" ',
    '"6", "7"',
    '"7","8"',
    '"6" , "7"\t,"8"',
    'W/"6", "7"',
    ', "7"',
    '"7",',
  ])
    t.ok(isMet(header), String(header))
})

t.test('the current ETag matches as a proxy returns it: weak, or with an encoding [10.1-if-match]', async (t) => {
  for (const header of ['W/"7"', 'W/"6", W/"7"', '"7-gzip"', '"7--gzip"', '"7-br"', 'W/"7-gzip"', '"6-br", "7-br"'])
    t.ok(isMet(header), header)
  for (const header of ['W/"6"', '"6-gzip"', '"6--gzip"', '"77-br"', '"7-8"', '"7---gzip"', '"7-"', '"-gzip"'])
    t.notOk(isMet(header), header)
})

t.test('another revision and a malformed ETag do not match [10.1-if-match-fails]', async (t) => {
  for (const header of ['"6"', '"8"', '"77"', '"07"', '"7 "', '" 7"', '"-7"', '"7.0"', '"7n"', '"6", "8"'])
    t.notOk(isMet(header), header)
  for (const header of ['w/"7"', '7', "'7'", '"7', '7"', '""', '', ' ', ',', '**', '*7', '"*"'])
    t.notOk(isMet(header), JSON.stringify(header))
})

t.test('a revision above 2^53 is compared exactly', async (t) => {
  t.ok(isMet('"9007199254740993"', 9007199254740993n))
  t.notOk(isMet('"9007199254740992"', 9007199254740993n))
})

t.test('no If-Match value matches a missing stream', async (t) => {
  for (const header of ['*', '"no_stream"', '"-1"', '"0"']) t.notOk(isMet(header, 'no_stream'), header)
  t.ok(isMet(undefined, 'no_stream'))
})

t.test('requireMatch: a header without any ETag of ours says what If-Match must be', async (t) => {
  for (const header of ['7', "'7'", '"7', '', ',', '**', 'x, y'])
    t.throws(
      () => requireMatch(header, 7n),
      {
        code: 'precondition_failed',
        details: { etag: '"7"' },
        message: 'If-Match must be the ETag of a response, such as "3", or *',
      },
      header,
    )
  t.throws(() => requireMatch('7, "6"', 7n), { details: { etag: '"7"' }, message: /read it again/ })
})
