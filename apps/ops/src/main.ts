// `npm run -s ops -- …`: the operators' and auditors' command line.
import { runCommandLine } from './commandLine.ts'

const { stdin: input, stdout: output, stderr: errors } = process

// Whoever reads the output may leave, as `head` does: what is under way goes on without it.
for (const stream of [output, errors]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

// biome-ignore lint/style/noProcessEnv: a running system completes it before it is decoded.
process.exitCode = await runCommandLine(process.argv.slice(2), { environment: process.env, input, output, errors })
