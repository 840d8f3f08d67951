import t from 'tap'
import { missingOptionals, readLockFile } from './lockFile.ts'

t.test('the lock file lists the optional packages of every platform', async (t) => {
  t.same([...missingOptionals(await readLockFile()).keys()], [], 'run npm run lock')
})

t.test('missingOptionals returns missing packages with their platform', async (t) => {
  const lock = {
    packages: {
      'node_modules/tool': {
        dev: true,
        optionalDependencies: { 'tool-linux-x64': '1.2.3', 'tool-darwin-arm64': '1.2.3' },
      },
      'node_modules/tool-linux-x64': { version: '1.2.3' },
    },
  }
  t.same(
    [...missingOptionals(lock)],
    [
      [
        'node_modules/tool-darwin-arm64',
        { version: '1.2.3', dev: true, optional: true, cpu: ['arm64'], os: ['darwin'] },
      ],
    ],
  )
})
