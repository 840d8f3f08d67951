// PgBouncer between a program and Postgres, where it is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findProgram } from './findProgram.ts'
import { freePort } from './processes.ts'
import { waitFor } from './waitFor.ts'

/** Its package puts it where only root looks. */
export const findPgBouncer = () => findProgram(['pgbouncer'], `${process.env.PATH}:/usr/sbin`)

/** It does not run as root. */
const nobody = 65_534

/**
 * Starts it with its own defaults; it ends with the test.
 * @param databaseUrl with user and password, which it uses for all
 * @param settings such as `pool_mode`
 * @returns the URL of the same database through it @throws Error when it is not installed
 */
export async function startPgBouncer(
  t: Test,
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<{ readonly databaseUrl: string; output(): string }> {
  const program = await findPgBouncer()
  if (program === undefined) throw new Error('There is no pgbouncer')
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  // Another user reads it.
  chmodSync(directory, 0o755)
  const file = join(directory, 'pgbouncer.ini')
  const users = join(directory, 'users.txt')
  const all = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'plain', auth_file: users },
    ...settings,
  }
  const credentials = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`
  writeFileSync(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    file,
    `[databases]\n* = host=${hostname} port=${serverPort} ${credentials}\n[pgbouncer]\n${Object.entries(all)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  )
  const child = spawn(program, [file], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
  })
  let output = ''
  child.stderr.on('data', (data) => {
    output += data
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${output}`)
      const socket = connect(port, '127.0.0.1')
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return isOpen
    },
    { what: 'pgbouncer' },
  )
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return { databaseUrl: url.href, output: () => output }
}
