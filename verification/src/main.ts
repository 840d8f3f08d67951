// `npm run campaign -- [PART]`: everything that tries to break Paylog on purpose. docs/reliability.md tells what was found.
const parts: Readonly<Record<string, string>> = {
  faults: './campaign/main.ts',
  planted: './campaign/planted/main.ts',
  histories: './histories/main.ts',
  power: './power/main.ts',
  requests: './requests/main.ts',
}
const part = process.argv[2] ?? ''
if (part in parts) process.argv.splice(2, 1)
await import(parts[part] ?? './campaign/main.ts')
