// `npm run -s ops -- …`: the command line for operators and auditors.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The client of the log and the routes take half a second to compile. Nobody else may write to this folder.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/paylog', import.meta.url)))
const { runCommandLine } = await import('./commandLine.ts')

const { stdin: input, stdout: output, stderr: errors } = process

// A reader may close the pipe early, as `head` does. The command goes on without it.
for (const stream of [output, errors]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

// biome-ignore lint/style/noProcessEnv: a running system completes it before it is decoded.
process.exitCode = await runCommandLine(process.argv.slice(2), { environment: process.env, input, output, errors })
