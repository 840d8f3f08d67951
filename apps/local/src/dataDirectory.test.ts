import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDataDirectory, piiMasterKeyFile } from './dataDirectory.ts'
import { StartError } from './terminal.ts'

t.test('openDataDirectory creates a directory that only its owner can read', async (t) => {
  const directory = openDataDirectory(join(t.testdir(), 'a', 'data'))
  t.equal(statSync(directory).mode & 0o777, 0o700)
})

t.test('the master key is made once, in a file that only its owner can read', async (t) => {
  const directory = openDataDirectory(t.testdir())
  const file = piiMasterKeyFile(directory)
  const made = readFileSync(file, 'utf8')
  t.match(made, /^[A-Za-z0-9+/]{43}=$/)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(piiMasterKeyFile(directory), file)
  t.equal(readFileSync(file, 'utf8'), made)
})

t.test(
  'openDataDirectory throws a one-line StartError when the directory cannot be created',
  { skip: process.platform !== 'linux' },
  async (t) => {
    t.throws(
      () => openDataDirectory('/proc/paylog/data'),
      new StartError(
        "DATA_DIR /proc/paylog/data cannot be used: ENOENT: no such file or directory, mkdir '/proc/paylog'.",
      ),
    )
  },
)
