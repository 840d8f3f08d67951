// The commands and variables of a Markdown page.

export type Block = {
  /** The heading above it. */
  readonly heading: string
  readonly language: string
  readonly text: string
}

/** The fenced blocks of a page, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: { language: string; lines: string[] } | undefined
  for (const line of markdown.split('\n')) {
    const fence = /^```(.*)$/.exec(line)
    if (fence && open === undefined) open = { language: fence[1] ?? '', lines: [] }
    else if (fence && open !== undefined) {
      blocks.push({ heading, language: open.language, text: open.lines.join('\n') })
      open = undefined
    } else if (open !== undefined) open.lines.push(line)
    else heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading
  }
  return blocks
}

/** The commands of a shell block, one per line, without comments. */
export function commandsOf(block: Block): string[] {
  return block.text
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** The variables in the first column of the page's tables. */
export function variablesOf(markdown: string): ReadonlySet<string> {
  const firstCells = [...markdown.matchAll(/^\| (`[A-Z].*?) \|/gm)].map(([, cell = '']) => cell)
  return new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name)))
}

export type Synopsis = { readonly words: string; readonly options: readonly string[] }

/** Expands a synopsis: `a b|c [--d N] …` is `a b` and `a c`, both with the option `--d` if one is named. */
export function synopsesOf(command: string): Synopsis[] {
  const [, call = ''] = /^npm run -s ops -- (.*)$/.exec(command) ?? []
  const options = [...call.matchAll(/--[a-z-]+/g)].map(([option]) => option)
  const [words = ''] = call.split(/ (?=<|\[|--|…|[A-Z]|[a-z]+-<)/)
  const [first = '', choices = '', ...rest] = words.split(' ')
  return choices === ''
    ? [{ words: first, options }]
    : choices.split('|').map((choice) => ({ words: [first, choice, ...rest].join(' '), options }))
}
