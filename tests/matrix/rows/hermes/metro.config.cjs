// As in React Native: its Babel preset, and the `exports` of packages.
module.exports = {
  projectRoot: __dirname,
  transformer: { babelTransformerPath: require.resolve("./transformer.cjs") },
  resolver: { unstable_conditionNames: ["react-native"], useWatchman: false },
};
