import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSigningKey, parseSigningKey } from '@paylog/audit-log/note'
import t from 'tap'
import { auditSigningKey, openDataDirectory, piiMasterKeyFile } from './dataDirectory.ts'
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

t.test('a missing signing key beside a signed log is an error that names the file and what to do', async (t) => {
  const directory = openDataDirectory(t.testdir())
  const { file } = auditSigningKey(directory)
  const made = readFileSync(file, 'utf8')
  t.same(auditSigningKey(directory), { file, formerVerifierKeys: [] })
  t.equal(readFileSync(file, 'utf8'), made)
  for (const trace of ['audit-verifier-key', 'postgres']) {
    const other = openDataDirectory(t.testdir({ postgres: { cluster: {} }, 'audit-verifier-key': 'any' }))
    rmSync(join(other, trace), { recursive: true })
    const message = /audit-signing-key is missing, .*Restore it from a backup\. .*audit key --new NAME.*audit restart/
    t.throws(() => auditSigningKey(other), { name: 'StartError', message }, `without ${trace}`)
  }
})

t.test('the verifier key of a former signing key is kept', async (t) => {
  const directory = openDataDirectory(t.testdir())
  const { file } = auditSigningKey(directory)
  const former = readFileSync(join(directory, 'audit-verifier-key'), 'utf8').trim()
  const { signingKey, verifierKey } = newSigningKey(parseSigningKey(readFileSync(file, 'utf8')).name)
  writeFileSync(file, signingKey)
  for (let start = 0; start < 2; start++) t.same(auditSigningKey(directory), { file, formerVerifierKeys: [former] })
  t.equal(readFileSync(join(directory, 'audit-verifier-key'), 'utf8'), `${verifierKey}\n`)
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
