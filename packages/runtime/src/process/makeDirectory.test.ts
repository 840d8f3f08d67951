import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeDirectory } from './makeDirectory.ts'

t.test(
  'makeDirectory creates the missing directories with the given mode, and leaves an existing one alone',
  async (t) => {
    const directory = t.testdir()
    makeDirectory(join(directory, 'a', 'b'), 0o700)
    t.equal(statSync(join(directory, 'a', 'b')).mode & 0o777, 0o700)
    makeDirectory(join(directory, 'a', 'b'), 0o755)
    t.equal(statSync(join(directory, 'a', 'b')).mode & 0o777, 0o700)
  },
)

t.test('makeDirectory below a file fails', async (t) => {
  t.throws(() => makeDirectory(join(t.testdir({ file: '' }), 'file', 'a', 'b'), 0o700), { code: 'ENOTDIR' })
})

t.test(
  'makeDirectory fails below a path where the system allows no directories',
  { skip: process.platform !== 'linux' },
  async (t) => {
    t.throws(() => makeDirectory('/proc/paylog/a', 0o700), /ENOENT.*mkdir/)
  },
)
