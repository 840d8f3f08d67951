// How Mantine's components look; colours and sizes of everything else are in styles/tokens.css.
import { createTheme, type MantineColorsTuple } from '@mantine/core'

const iris: MantineColorsTuple = [
  '#eeecfd',
  '#dcd9fb',
  '#c4bff8',
  '#aaa4ff',
  '#8f86f2',
  '#7266e6',
  '#5b4fdd',
  '#4b3fd0',
  '#3d33b0',
  '#332b92',
]

export const theme = createTheme({
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  colors: { iris },
  autoContrast: true,
  defaultRadius: 6,
  cursorType: 'pointer',
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '13px', sm: '14px', md: '14px', lg: '16px', xl: '22px' },
  headings: { fontWeight: '600' },
  respectReducedMotion: true,
})
