// Runs commands of the operators' command line as a person would.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { StartError } from '../terminal.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../../ops/src/main.ts', import.meta.url))
const timeoutMs = 60_000

export type RunOps = (expectedCode: number, ...args: readonly string[]) => Promise<string>

/**
 * @param options `print` shows each command and its output; `environment` and `directory` are those that it runs in
 * @returns a function that runs a command. It rejects with a StartError when the command exits with another code
 */
export function createOps(options: {
  readonly print: (text: string) => void
  readonly environment: NodeJS.ProcessEnv
  readonly directory: string
}): RunOps {
  const { print, environment, directory } = options
  return async (expectedCode, ...args) => {
    print(`   $ ops ${args.join(' ')}`)
    const ended = run(process.execPath, [script, ...args], {
      env: environment,
      cwd: directory,
      timeout: timeoutMs,
    })
    const { code, stdout, stderr } = await ended.then(
      (outputs) => ({ code: 0, ...outputs }),
      (error: { code?: unknown; stdout: string; stderr: string }) => error,
    )
    // The lines before the last one show progress.
    const error = code === 0 ? [] : stderr.trimEnd().split('\n').slice(-1)
    for (const line of [...stdout.trimEnd().split('\n'), ...error]) if (line !== '') print(`     ${line}`)
    if (code !== expectedCode) throw new StartError(`ops ${args.join(' ')} exited with ${code}.`)
    return stdout
  }
}
