import { PassThrough, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { printTo } from './printTo.ts'

t.test('print resolves at once while the buffer has space, then when the reader catches up', async (t) => {
  const output = new PassThrough({ highWaterMark: 16 })
  const print = printTo(output)
  await print('one')
  await print('two')
  let isWritten = false
  const third = print('a line that is too long for it').then(() => {
    isWritten = true
  })
  await setImmediate()
  t.equal(isWritten, false)
  t.equal(String(output.read()), 'one\ntwo\na line that is too long for it\n')
  await third
  await print('three')
  t.equal(String(output.read()), 'three\n')
})

t.test('print does not wait for a reader that has gone', async (t) => {
  const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => done(gone) })
  const errors: unknown[] = []
  output.on('error', (error) => errors.push(error))
  const print = printTo(output)
  await print('one')
  await print('two')
  t.same(errors, [gone])
})
